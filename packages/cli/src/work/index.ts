/** Entry point of what the working commands share: the agent of a session, its setup and database, approvals, errors. */
export { importDefault, loadAgent } from "./agent-file.ts";
export { type ApprovalRule, ruleFor } from "./approval-rules.ts";
export { type ApprovalOptions, Approvals, type Decide, type Decision, decideInLines } from "./approvals.ts";
export { assistantOptions, checkFolder, createAssistant, initPrompt } from "./assistant.ts";
export { exportsOfAgentFile, loadModels } from "./beside-agent.ts";
export { type ChatSummary, chatSummaryOf, keepChatSummary, summarised } from "./chat-summary.ts";
export { compactionNote, compactSession, transcriptOf } from "./compact.ts";
export { contextOfSession } from "./context-of-session.ts";
export {
	databaseFrom,
	isServer,
	openDatabase,
	openExisting,
	requireDatabase,
	shownDatabase,
} from "./database.ts";
export { describeError } from "./describe-error.ts";
export { chooseModel, modelsByKey, takesImages } from "./models.ts";
export { type OpenAgent, openAgent } from "./open-agent.ts";
export { followedIn, projectSkills } from "./project-skills.ts";
export { findSession, isOwnKey, nameOfSession, refuseServed } from "./session-name.ts";
export { type Place, type RunEnd, SessionReader } from "./session-reader.ts";
export {
	copySettings,
	readChatTheme,
	readSettings,
	type SessionSettings,
	writeChatTheme,
	writeSettings,
} from "./session-settings.ts";
export { titleOf } from "./session-title.ts";
export {
	assistantsFolder,
	keepSettings,
	prepare,
	type Setup,
	setupOfFile,
	type WorkOptions,
} from "./setup.ts";
export { approved, denied } from "./tool-answers.ts";
export { ending, exitCodes, UsageError } from "./usage-error.ts";
