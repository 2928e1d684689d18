/**
 * How a legacy client subscribes to one resource and ends the subscription. List changes need no subscription in this
 * era; a modern client subscribes to both in one request.
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
