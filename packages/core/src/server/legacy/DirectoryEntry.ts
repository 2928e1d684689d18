/**
 * The entry of one `HttpSession` in the directory that nodes share. It adds the entry, keeps the entry up to date, and removes the entry
 * when the session ends. `Http` makes these objects; without a directory there are none.
 *
 * A class, because it must remember whether the directory has the entry. `isStored` turns true once. `isLost` turns true when another node
 * has taken the session over.
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
   * The id of the principal that opened a session, from the facts that another node has stored; `undefined` for a client without a
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
        // In a fiber of its own, because the end of the session interrupts its requests, and the current request must still answer with its
        // error.
        const end = Effect.forkDaemon(Effect.sync(() => this.lose()))
        return Effect.zipRight(end, Effect.fail(new InternalError({ message: "Another node serves this session" })))
      }
    )
  }

  /** Another node has taken the session over: the session ends here. */
  lose(): void {
    if (this.isLost) return
    this.isLost = true
    this.onLost()
  }

  /**
   * The session ends at this node: for good, or, with `isMoving`, because this node leaves and the session goes on at another node. Gives
   * whether the session has ended for all nodes. When this effect fails, the directory may still say that this node serves the session.
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
