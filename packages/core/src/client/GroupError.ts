/**
 * The errors of a group of servers: a name that another server has, a server or an entry that the group does not have, and a tool that is
 * refused. `ClientSessionGroup` fails with these errors, and so do its parts `group/Members` and `group/CurrentEntries`. `ClientError` has
 * the errors of single servers.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import * as HiddenCharacters from "../protocol/rules/HiddenCharacters.js"
import * as Names from "./group/Names.js"
import type { Kind } from "./GroupEntries.js"

/**
 * A server lists names that another server of the group has, and the option `onCollision` of the group is `"fail"`.
 *
 * @category errors
 */
export class DuplicateEntry extends Data.TaggedError("DuplicateEntry")<{
  readonly server: string
  readonly kind: Kind
  readonly names: ReadonlyArray<string>
}> {
  override get message(): string {
    return `The server "${this.server}" has ${Names.noun[this.kind]}s whose names are taken in the group: ${
      Names.listed(this.names)
    }. ${Names.advice(this.kind)}; or let the group rename them with \`onCollision: "rename"\``
  }
}

/**
 * The group already has a server of this name.
 *
 * @category errors
 */
export class DuplicateServer extends Data.TaggedError("DuplicateServer")<{ readonly server: string }> {
  override get message(): string {
    return `The group has a server named "${this.server}" already`
  }
}

/**
 * The group has no server of this name.
 *
 * @category errors
 */
export class UnknownServer extends Data.TaggedError("UnknownServer")<{ readonly server: string }> {
  override get message(): string {
    return `The group has no server named "${this.server}"; it was never connected, or is disconnected`
  }
}

/**
 * No server that is connected now has this entry.
 *
 * @category errors
 */
export class UnknownEntry extends Data.TaggedError("UnknownEntry")<{
  readonly kind: Kind
  /** The name of the entry, or the URI of a resource. */
  readonly entry: string
}> {
  override get message(): string {
    return `No server of the group that is connected now has a ${Names.noun[this.kind]} named ${
      Names.listed([this.entry])
    }`
  }
}

/**
 * The application has not agreed to the tool, or the tool has changed since the application agreed; see `ToolFingerprints`.
 *
 * @category errors
 */
export class ToolRefused extends Data.TaggedError("ToolRefused")<{
  readonly server: string
  /** The name of the tool at its server. */
  readonly tool: string
  /** What is wrong with the tool, as the end of a sentence. */
  readonly reason: string
}> {
  override get message(): string {
    const [tool, server] = [this.tool, this.server].map((name) =>
      JSON.stringify(HiddenCharacters.removed(name.slice(0, 100)))
    )
    return `The tool ${tool} of ${server} cannot be called: it ${this.reason}. The application must agree to the tool first (ToolFingerprints.agree)`
  }
}
