import { describe } from "@effect/vitest"
import type { Membership, SessionDirectoryService } from "@effect-mcp/core/SessionDirectory"
import * as SessionDirectory from "@effect-mcp/core/SessionDirectory"
import { laws } from "@effect-mcp/testing/SessionDirectoryLaws"
import { Effect, Option } from "effect"
import { found } from "./Faults.js"

const members =
  (change: (membership: Membership) => Partial<Membership>) =>
  ({ join }: SessionDirectoryService): SessionDirectoryService => ({
    join: (node) => Effect.map(join(node), (membership) => ({ ...membership, ...change(membership) }))
  })

describe("The laws of a directory of sessions", () => {
  found(laws, SessionDirectory.memory(), {
    "gives a session away that is served": [
      members(({ claim, release }) => ({
        claim: (id, epoch) => Effect.zipRight(release(id, epoch), claim(id, epoch))
      })),
      "gives no node a session that another node serves"
    ],
    "lets every node claim a session": [
      members(({ claim, find }) => ({
        claim: (id, epoch) =>
          Effect.flatMap(claim(id, epoch), (claimed) => Option.isSome(claimed) ? Effect.succeed(claimed) : find(id))
      })),
      "gives a session whose node has ended to one of the nodes that claim the session, with the next epoch"
    ],
    "does not look at the epoch": [
      members(({ find, update }) => ({
        update: (id, _, facts) =>
          Effect.flatMap(
            find(id),
            (entry) => Option.isNone(entry) ? Effect.succeed(false) : update(id, entry.value.epoch, facts)
          )
      })),
      "refuses the operations of a node with an old epoch"
    ],
    "loses facts": [
      members(({ create }) => ({ create: (id) => create(id, {}) })),
      "keeps sessions separate, and keeps all sessions"
    ],
    "gives facts as they were first": [
      members(({ update }) => ({ update: (id, epoch) => Effect.map(update(id, epoch, {}), () => true) })),
      "finds on every node the entries that another node has stored, unchanged"
    ],
    "has every node as a member": [
      members(() => ({ isAlive: () => Effect.succeed(true) })),
      "finds on every node the entries that another node has stored, unchanged"
    ]
  })
})
