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
 *
 * <p>To close an object a second time has no effect, from any thread, so that who closes need not
 * know who did before; a close that threw left the object open. What only tells something, a
 * number, a key, a limit, tells it as long as the object is reachable. Any other use of a closed
 * object, and of an object of another device or provider, is refused with EINVAL: by a {@link
 * org.jdapl.verbs.VerbsException}, or as the result of a method that returns an errno. What a
 * closed {@link org.jdapl.verbs.Device} is asked to create is refused with ENODEV, whatever objects
 * it is to be made of; numbers that are not valid may be refused as such before. What was destroyed
 * is never reached.
 *
 * <p>What is the peer's doing is no exception: that it is gone, refuses, or never was, is told by
 * an event of the connection that was asked for or accepted.
 *
 * <p>What is marked {@link org.jdapl.verbs.Experimental} may change in any version.
 */
package org.jdapl.verbs;
