/**
 * Mock transports, scripted peers and laws for testing MCP servers and clients.
 *
 * @since 0.1.0
 */
export * as AuthorizationServerModel from "./AuthorizationServerModel.js"
export * as ChangeBusLaws from "./ChangeBusLaws.js"
export * as EventStoreLaws from "./EventStoreLaws.js"
export * as InboxLaws from "./InboxLaws.js"
export * as Law from "./Law.js"
export * as OfficialSchema from "./OfficialSchema.js"
export * as Replay from "./Replay.js"
export * as SealKeysLaws from "./SealKeysLaws.js"
export * as ServeLaws from "./ServeLaws.js"
export * as SessionDirectoryLaws from "./SessionDirectoryLaws.js"
export * as SharedLimitsLaws from "./SharedLimitsLaws.js"
export * as TaskStoreLaws from "./TaskStoreLaws.js"
export * as TestClient from "./TestClient.js"
export * as TestFeatures from "./TestFeatures.js"
export * as TestPeer from "./TestPeer.js"
export * as TestServer from "./TestServer.js"
export * as TestTransport from "./TestTransport.js"
export * as Transcript from "./Transcript.js"
export * as TransportLaws from "./TransportLaws.js"
