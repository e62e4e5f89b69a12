/**
 * The simulated provider: devices that behave like RDMA hardware, on a fabric inside one JVM.
 *
 * <p>A {@link org.jdapl.sim.SimFabric} runs in real time on threads of its own, or in virtual time
 * on the thread of whoever steps its clock, with every choice drawn from a seed. What its devices
 * do where the verbs leave a choice is a {@link org.jdapl.sim.SimModel}.
 *
 * <p>Retries and timers are as over InfiniBand, without a time for the way: a request that nobody
 * answers fails after an ack timeout for each try, one that finds no receive after the peer's timer
 * for each retry. Both timers are 100 microseconds unless the consumer says otherwise. How many
 * reads there are at once is negotiated, and told; all are done one after the other.
 *
 * <p>Inside, there is one lock per fabric (the wire) for everything messages touch, and below it
 * one per completion queue and one per queue of upcalls. Posting takes none of them. No lock is
 * held while a handler runs.
 */
package org.jdapl.sim;
