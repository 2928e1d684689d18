/**
 * The types with which a legacy client (revisions up to 2025-11-25) subscribes to one resource and ends the subscription. A legacy client
 * gets notifications of changed lists without a subscription. `modern/Subscriptions` has the types for modern clients.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/resources#subscriptions
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Meta from "../Meta.js"
import { Uri } from "../schema/TextFormats.js"

/** @category models */
export interface SubscribeParams extends Schema.Schema.Type<typeof SubscribeParams> {}

/**
 * The parameters of `resources/subscribe` and of `resources/unsubscribe`.
 *
 * @category schemas
 */
export const SubscribeParams = Schema.Struct({ uri: Uri, ...Meta.request })
