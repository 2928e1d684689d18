/**
 * The place where `Authenticator.validFor` writes for how long the user of an HTTP request is valid. `Authentication` provides a place to
 * each search for a user, and reads the place when the user was found.
 */
import * as Context from "effect/Context"

/** Both members are in milliseconds. `undefined` outside of HTTP. */
export class Validity extends Context.Reference<Validity>()("@effect-mcp/core/server/Authenticator/Validity", {
  defaultValue: (): { life: number; recheckAfter: number } | undefined => undefined
}) {}
