/**
 * Wraps the `SessionDirectory` and the `Inbox` of an application, for `Nodes` and `NodeTasks`. An application may have written these
 * services itself. The wrapper turns a defect of a service into a failure, so that no request waits forever, and logs when a service begins
 * to fail. `DIRECTORY` is the name of the directory in error messages. `legacy/Http` and `legacy/DirectoryEntry` use this name, too.
 */
import * as Effect from "effect/Effect"
import { InboxError, type InboxService, type Mailbox } from "../Inbox.js"
import { type Membership, SessionDirectoryError, type SessionDirectoryService } from "../SessionDirectory.js"
import * as StoreFailure from "../telemetry/StoreFailure.js"

export const DIRECTORY = "The directory of sessions"

/** The wrapper of each directory. All parts of a server use the same wrapper, so the log gets each failure only once. */
const directories = new WeakMap<SessionDirectoryService, SessionDirectoryService>()

export const directory = (service: SessionDirectoryService): SessionDirectoryService => {
  const known = directories.get(service) ?? totalDirectory(service)
  directories.set(service, known)
  return known
}

const totalDirectory = (service: SessionDirectoryService): SessionDirectoryService => {
  const total = StoreFailure.total(DIRECTORY, (message) => new SessionDirectoryError({ message }))
  return {
    join: (node) =>
      Effect.map(total(() => service.join(node)), (own): Membership => ({
        create: (...args) => total(() => own.create(...args)),
        find: (...args) => total(() => own.find(...args)),
        claim: (...args) => total(() => own.claim(...args)),
        update: (...args) => total(() => own.update(...args)),
        touch: (...args) => total(() => own.touch(...args)),
        release: (...args) => total(() => own.release(...args)),
        remove: (...args) => total(() => own.remove(...args)),
        isAlive: (...args) => total(() => own.isAlive(...args)),
        lost: own.lost
      }))
  }
}

export const inbox = (service: InboxService): InboxService => {
  const total = StoreFailure.total(
    "The inbox of the nodes",
    (message) => new InboxError({ reason: "Unavailable", message }),
    ({ reason }) => reason === "Refused" || reason === "Unavailable"
  )
  return {
    open: (node) =>
      Effect.map(total(() => service.open(node)), (own): Mailbox => ({
        send: (...args) => total(() => own.send(...args)),
        received: own.received
      }))
  }
}
