/**
 * The event dispatcher over any verbs provider. {@link org.jdapl.evd.Jdapl} is the class to embed
 * it by; consumers come through {@link org.jdapl.dat.Dat}.
 *
 * <p>Start with {@code EvdImpl}, which runs the turns, {@code EvdState}, the word that serializes
 * them, and {@code Merger}, which says which event comes next.
 */
package org.jdapl.evd;
