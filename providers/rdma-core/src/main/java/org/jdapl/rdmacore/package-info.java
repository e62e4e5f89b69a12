/** To be written. */
package org.jdapl.rdmacore;
