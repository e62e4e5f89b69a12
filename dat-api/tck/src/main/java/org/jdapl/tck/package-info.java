/**
 * The contract of {@link org.jdapl.dat} as tests, one class for each section of the rules, each
 * method named after the rule it tests.
 *
 * <p>To test an implementation, write a {@link org.jdapl.tck.Bench} for it and extend {@link
 * org.jdapl.tck.EventContract}, {@link org.jdapl.tck.UpcallContract}, {@link
 * org.jdapl.tck.MergeContract}, {@link org.jdapl.tck.TeardownContract} and {@link
 * org.jdapl.tck.ErrorContract}, for instance as a parameterized class over the models it offers.
 */
package org.jdapl.tck;
