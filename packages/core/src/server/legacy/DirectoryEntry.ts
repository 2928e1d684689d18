/**
 * Manages the entry of one `HttpSession` in the `SessionDirectory` that nodes share: adds the entry, updates the entry, and removes the
 * entry when the session ends. `Http` makes these objects. Without a directory there are no such objects.
 *
 * Mutable fields: `isStored` turns true when the directory has the entry. `isLost` turns true when another node has taken the session over.
 */
import * as Effect from "effect/Effect"
import type { JsonObject } from "../../protocol/Json.js"
import { InternalError } from "../../protocol/McpError.js"
import * as Refusal from "../http/Refusal.js"
import type { HttpRefusal } from "../HttpRefusal.js"
import { DIRECTORY } from "../nodes/NodeServices.js"
import type { Membership, SessionDirectoryError } from "../SessionDirectory.js"

export class DirectoryEntry {
  private isStored: boolean
  isLost = false

  /**
   * Reads the id of the principal that opened a session from the facts that another node has stored; `undefined` for a client without a
   * principal.
   */
  static ownerOf({ owner }: JsonObject): string | undefined {
    return owner as string | undefined
  }

  constructor(
    private readonly membership: Membership,
    private readonly id: string,
    private readonly owner: string | undefined,
    readonly epoch: number,
    /** The facts that another node has stored; `undefined` for a session that begins at this node. */
    readonly facts: JsonObject | undefined,
    /** Called when another node has taken the session over. */
    private readonly onLost: () => void
  ) {
    this.isStored = facts !== undefined
  }

  readonly store = (facts: JsonObject): Effect.Effect<void, InternalError | HttpRefusal> => {
    const { epoch, id, membership, owner } = this
    const all = owner === undefined ? facts : { ...facts, owner }
    const stored = this.isStored ? membership.update(id, epoch, all) : Effect.as(membership.create(id, all), true)
    return Effect.flatMap(
      Effect.mapError(stored, ({ isRefused }) => Refusal.storeAway(DIRECTORY, isRefused)),
      (isOwn) => {
        this.isStored = true
        if (isOwn) return Effect.void
        // In a separate fiber, because the end of the session interrupts its requests. The current request must first answer with its
        // error.
        const end = Effect.forkDaemon(Effect.sync(() => this.lose()))
        return Effect.zipRight(end, Effect.fail(new InternalError({ message: "Another node serves this session" })))
      }
    )
  }

  /** Another node has taken the session over. Ends the session at this node. */
  lose(): void {
    if (this.isLost) return
    this.isLost = true
    this.onLost()
  }

  /**
   * Removes the entry, because the session ends. With `isMoving`, the session goes on at another node, so this effect releases the entry
   * instead. Gives `true` when the session has ended for all nodes. When this effect fails, the directory may still say that this node
   * serves the session.
   */
  end(isMoving: boolean): Effect.Effect<boolean, SessionDirectoryError> {
    return Effect.suspend(() => {
      const { epoch, id, isLost, isStored, membership } = this
      if (isLost) return Effect.succeed(false)
      if (!isStored) return Effect.succeed(true)
      return isMoving ? Effect.as(membership.release(id, epoch), false) : membership.remove(id, epoch)
    })
  }
}
