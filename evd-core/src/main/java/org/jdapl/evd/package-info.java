/**
 * The event dispatcher over any verbs provider. {@link org.jdapl.evd.Jdapl} is its one public
 * class; consumers come through {@link org.jdapl.dat.Dat}.
 *
 * <p>Start with {@code EvdImpl}, which runs the turns, {@code EvdState}, the word that serializes
 * them, and {@code Merger}, which says which event comes next.
 *
 * <p>Naming of accessors to shared fields, after JCTools: {@code lv} is a volatile load, {@code so}
 * an ordered store, {@code cas} a compare-and-set.
 */
package org.jdapl.evd;
