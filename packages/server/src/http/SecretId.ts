/**
 * Ids that nobody can guess, for what is known by its id alone.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 * @since 0.1.0
 */

/**
 * 122 random bits as 32 letters and digits, which are visible ASCII and need no escape in an address.
 *
 * @since 0.1.0
 * @category constructors
 */
// What is replaced is one piece: an id of many would be kept as many, ten times as large.
export const make = (): string => globalThis.crypto.randomUUID().replaceAll("-", "")
