/**
 * The provider {@code rdma-core}: RDMA devices through libibverbs and librdmacm.
 *
 * <h2>Loading</h2>
 *
 * <p>The native library is in the jar, one for each platform, and is loaded at the first use: from
 * the file that {@code -Djdapl.native.path} names and nowhere else; or it is unpacked into a
 * directory of its own below {@code -Djdapl.native.workdir} (or {@code java.io.tmpdir}), loaded,
 * and deleted. It is refused if it is not of the same build as the Java classes. It then opens
 * {@code libibverbs.so.1} and {@code librdmacm.so.1}; it is not linked to them, so that their
 * absence is an answer and not a crash. What went wrong is kept: {@link
 * org.jdapl.rdmacore.RdmaCoreProvider#problem} and every attempt to open a device say the same each
 * time. {@link org.jdapl.rdmacore.Diagnosis} looks at everything, as {@code examples/run doctor}
 * does. Java 24 and later print a warning for any program that loads a native library; {@code
 * --enable-native-access} silences it.
 *
 * <h2>Devices</h2>
 *
 * <p>A device is found by an IP address of this machine, since its peers name it so; see {@link
 * org.jdapl.rdmacore.RdmaCoreProvider}. It lives on the context that librdmacm opened for it, which
 * all adapters of that device share. Each adapter has an event channel of the connection manager
 * and a completion channel of its own. Asynchronous events of the context go to the adapter that
 * owns the object; those of a port or of the device go to all.
 *
 * <h2>Threads</h2>
 *
 * <p>There is none here. Handlers are called in {@code EventChannel.await}, which is epoll over the
 * three descriptors of each device, and an eventfd that wakes it up. Time-outs are rounded up to
 * milliseconds. Completion, connection and asynchronous events are read and acknowledged in one
 * call into C, before any handler runs: no destroy waits for an acknowledgement. What waits for the
 * handler of an object that runs is each close of it, before it destroys. Steps that connect a
 * queue pair (resolving, moving it to RTS) are done in {@code await} too; where librdmacm asks
 * ibacm for routes, {@code rdma_resolve_route} waits for its answer, and {@code await} with it.
 *
 * <p>At most 64 completions and 32 requests of a list cross in one call; a longer list takes one
 * call for each 32.
 *
 * <p>Any verb may be called from any thread at any time, also together with the close of its
 * object: a verb runs while it holds the monitor that guards the pointer, and the close takes it.
 * The two queues of a queue pair have monitors of their own.
 *
 * <h2>Order of destruction</h2>
 *
 * <p>Nothing is destroyed while something is built on it (EBUSY): queue pairs before their queues
 * and domain, regions and windows before their domain, all objects before the device, devices
 * before the channel. A queue pair is destroyed before its connection's id; ids own no queue pair,
 * the connection manager is only told its number. A close that fails leaves the object as it was,
 * and may be repeated; if the device is gone (EIO), the object counts as destroyed. A second close
 * has no effect. The buffer of a region whose deregistration ended so is never freed: nobody knows
 * that the device does not write to it any more.
 *
 * <h2>What is declared, and why</h2>
 *
 * <p>User space knows little of how a driver arms a queue. So an arm is declared {@code WEAK}, for
 * only that is promised by all; there is no hint, because ibv_req_notify_cq returns none; what a
 * second arm does is {@code UNKNOWN}, as drivers ignore, count or overwrite; {@code SOLICITED} does
 * {@code NO_ERRORS}, as some drivers do not count errors; the last-WQE event is {@code UNKNOWN}, as
 * some never send it. Private data is {@code PADDED}, for so it is over InfiniBand. Notifications
 * are {@code SERIAL} and never inside a verb, because one thread awaits.
 *
 * <h2>What differs from the simulator</h2>
 *
 * <ul>
 *   <li>Services are TCP ports, 1 to 65535.
 *   <li>Over InfiniBand and RoCE private data arrives padded with zeros: 56 bytes of a connect, 196
 *       of an accept, 148 of a reject.
 *   <li>A reject that is not the consumer's arrives as status 35 without private data, the only
 *       other reason that the kernel sends for a program. iWARP has no reasons: a consumer's is
 *       tagged there, with the four bytes that DAPL puts in front, so that DAPL peers understand it
 *       and are understood; any other reject arrives as ECONNREFUSED or ECONNRESET.
 *   <li>The timer of a peer without a receive is 0.64 ms unless the consumer says otherwise; the
 *       ack timeout is what the connection manager makes of the path. Retries and timers are set
 *       when the queue pair is moved, and so they are of its own side; what the connection manager
 *       takes by itself is the peer's retries without a receive. Over iWARP there are none of
 *       these.
 *   <li>Inline data must lie in registered regions, since this process reads it: it copies it
 *       through their buffers.
 *   <li>Fork support (ibv_fork_init) and moderation (ibv_modify_cq) are never asked for.
 * </ul>
 */
package org.jdapl.rdmacore;
