/**
 * The limits of `subscriptions/listen`, the request with which clients subscribe to notifications from 2026-07-28 on. Clients
 * of older revisions subscribe with `resources/subscribe`, which `maxSubscriptions` of the server limits.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/utilities/subscriptions
 * @since 0.1.0
 */

export interface ListenOptions {
  /** How many subscriptions may be open, of all clients together; one more is refused. Default: 10,000. */
  readonly max?: number | undefined
  /**
   * How many subscriptions one client may have, on one pipe or as one principal. HTTP clients without a principal share `max`.
   * Default: 64.
   */
  readonly maxPerClient?: number | undefined
  /** How many resources, and keys of extensions, one subscription may name. Default: 1,024. */
  readonly maxResources?: number | undefined
}
