/**
 * The verbs SPI: what a provider of RDMA verbs implements, and what the event dispatcher needs of
 * it.
 *
 * <p>A provider implements {@link org.jdapl.verbs.VerbsProvider}, {@link org.jdapl.verbs.Device},
 * {@link org.jdapl.verbs.CompletionQueue}, {@link org.jdapl.verbs.QueuePair}, {@link
 * org.jdapl.verbs.MemoryRegion} and the connection manager's types, and is found by {@link
 * java.util.ServiceLoader}. Every optional operation has a default that says "not supported". How a
 * provider behaves where the verbs leave a choice it says in its {@link
 * org.jdapl.verbs.Declaration}.
 *
 * <p>Calls towards the provider may come from any thread and concurrently, except where a method
 * says otherwise. Calls of a provider into a handler may come from any thread; handlers of the
 * dispatcher never block, never throw, and never call the provider back.
 */
package org.jdapl.verbs;
