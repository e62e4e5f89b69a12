/**
 * The contract of {@link org.jdapl.dat} as tests, each method named after the rule it tests; and
 * {@link org.jdapl.tck.LeakCheck}, for the tests of any consumer.
 *
 * <p>To test an implementation, write a {@link org.jdapl.tck.Bench} for it and extend all the
 * subclasses of {@link org.jdapl.tck.Contract}, for instance as parameterized classes over the
 * models it offers:
 *
 * <ul>
 *   <li>over any bench {@link org.jdapl.tck.EventContract}, {@link org.jdapl.tck.UpcallContract},
 *       {@link org.jdapl.tck.MergeContract}, {@link org.jdapl.tck.WaitContract}, {@link
 *       org.jdapl.tck.ConnectionContract}, {@link org.jdapl.tck.TeardownContract}, {@link
 *       org.jdapl.tck.ErrorContract} and {@link org.jdapl.tck.SharedReceiveContract};
 *   <li>on virtual time {@link org.jdapl.tck.UpcallVirtualContract};
 *   <li>with framework threads {@link org.jdapl.tck.EventThreadsContract}, {@link
 *       org.jdapl.tck.UpcallThreadsContract}, {@link org.jdapl.tck.WaitThreadsContract} and {@link
 *       org.jdapl.tck.TeardownThreadsContract}.
 * </ul>
 */
package org.jdapl.tck;
