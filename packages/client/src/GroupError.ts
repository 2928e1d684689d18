/**
 * How a group of servers can refuse: a name that is taken, a server or an entry that is not there. None of them comes from a
 * server.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import type { Kind } from "./group/Entries.js"

/**
 * A server brings names that are taken in the group.
 *
 * @since 0.1.0
 * @category errors
 */
export class DuplicateEntry extends Data.TaggedError("DuplicateEntry")<{
  readonly server: string
  readonly kind: Kind
  readonly names: ReadonlyArray<string>
}> {
  override get message(): string {
    return `The server "${this.server}" has ${this.kind} whose names are taken in the group: ${
      this.names.join(", ")
    }. ` +
      `Give them other names with a \`nameHook\``
  }
}

/**
 * There is a server of this name in the group.
 *
 * @since 0.1.0
 * @category errors
 */
export class DuplicateServer extends Data.TaggedError("DuplicateServer")<{ readonly server: string }> {
  override get message(): string {
    return `The group has a server named "${this.server}" already`
  }
}

/**
 * There is no server of this name in the group.
 *
 * @since 0.1.0
 * @category errors
 */
export class UnknownServer extends Data.TaggedError("UnknownServer")<{ readonly server: string }> {
  override get message(): string {
    return `The group has no server named "${this.server}"; it was never connected, or is disconnected`
  }
}

/**
 * No server of the group, of those that are connected now, has this.
 *
 * @since 0.1.0
 * @category errors
 */
export class UnknownEntry extends Data.TaggedError("UnknownEntry")<{
  readonly kind: Kind
  readonly name: string
}> {
  override get message(): string {
    return `No server of the group has ${this.kind} named "${this.name}"`
  }
}
