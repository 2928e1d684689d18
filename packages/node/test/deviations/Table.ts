/**
 * The table of deviations. `scripts/pages/deviations.mjs` makes a page of it, by these chapters.
 */
import * as ClientAnswers from "./clients/Answers.js"
import * as ClientHandshake from "./clients/Handshake.js"
import * as ClientHttp from "./clients/Http.js"
import * as ClientMessages from "./clients/Messages.js"
import * as ClientModern from "./clients/Modern.js"
import * as ClientNulls from "./clients/Nulls.js"
import * as ClientRequests from "./clients/Requests.js"
import * as ClientTexts from "./clients/Texts.js"
import type { ClientRow, ServerRow } from "./Row.js"
import * as ServerHandshake from "./servers/Handshake.js"
import * as ServerHttp from "./servers/Http.js"
import * as ServerLists from "./servers/Lists.js"
import * as ServerMessages from "./servers/Messages.js"
import * as ServerModern from "./servers/Modern.js"
import * as ServerNotifications from "./servers/Notifications.js"
import * as ServerRequests from "./servers/Requests.js"
import * as ServerResults from "./servers/Results.js"

export { pipes, urls } from "./Contacts.js"

const named = <R extends { readonly id: string }>(side: string, rows: ReadonlyArray<R>): ReadonlyArray<R> =>
  rows.map((row) => ({ ...row, id: `${side}/${row.id}` }))

export const clients: ReadonlyArray<ClientRow> = named("client", [
  ...ClientHandshake.rows,
  ...ClientRequests.rows,
  ...ClientNulls.rows,
  ...ClientMessages.rows,
  ...ClientTexts.rows,
  ...ClientAnswers.rows,
  ...ClientHttp.rows,
  ...ClientModern.rows
])

export const servers: ReadonlyArray<ServerRow> = named("server", [
  ...ServerHandshake.rows,
  ...ServerLists.rows,
  ...ServerResults.rows,
  ...ServerMessages.rows,
  ...ServerNotifications.rows,
  ...ServerRequests.rows,
  ...ServerHttp.rows,
  ...ServerModern.rows
])
