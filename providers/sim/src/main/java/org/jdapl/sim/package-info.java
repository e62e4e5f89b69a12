/**
 * The simulated provider: devices that behave like RDMA hardware, on a fabric inside one JVM.
 *
 * <p>A {@link org.jdapl.sim.SimFabric} runs in real time on threads of its own, or in virtual time
 * on the thread of whoever steps its clock, with every choice drawn from a seed. What its devices
 * do where the verbs leave a choice is a {@link org.jdapl.sim.SimModel}.
 *
 * <p>Inside, there is one lock per fabric (the wire) for everything messages touch, and below it
 * one per completion queue and one per queue of upcalls. Posting takes none of them. No lock is
 * held while a handler runs.
 */
package org.jdapl.sim;
