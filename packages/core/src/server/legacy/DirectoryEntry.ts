/**
 * The entry of one `HttpSession` in the directory that nodes share: adds the entry, keeps the entry up to date, and takes the entry out
 * when the session ends. `Http` makes these entries. Without a directory there is none.
 *
 * A class, because it must remember whether the directory has the entry: `isStored` turns true once, and `isLost` when another node has
 * taken the session over.
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

  /** The principal that has opened a session that another node has stored. */
  static ownerOf({ owner }: JsonObject): string | undefined {
    return owner as string | undefined
  }

  constructor(
    private readonly membership: Membership,
    private readonly id: string,
    private readonly owner: string | undefined,
    readonly epoch: number,
    /** What another node has stored; `undefined` for a session that begins here. */
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
        // In a fiber of its own: the end of the session interrupts its requests, and this one is about to say why it fails.
        const end = Effect.forkDaemon(Effect.sync(() => this.lose()))
        return Effect.zipRight(end, Effect.fail(new InternalError({ message: "Another node serves this session" })))
      }
    )
  }

  /** Another node has taken the session over. */
  lose(): void {
    if (this.isLost) return
    this.isLost = true
    this.onLost()
  }

  /**
   * The session ends here: for good, or, when this node leaves, to go on at another one. Gives whether it has ended for all nodes. When
   * this fails, the directory may still have the session for this node.
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
