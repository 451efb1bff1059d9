/** The texts of `--help`. */

const general = `holdfast: a durable assistant for a folder of files.

  holdfast run "<task>" [options]   work on a task; you can resume an interrupted run
  holdfast chat                     chat in the terminal
  holdfast resume [KEY]             resume an interrupted session
  holdfast worker [--agent FILE]    process due work until stopped
  holdfast release KEY              resume a parked session
  holdfast serve [--agent FILE]     serve an agent over HTTP
  holdfast acp [--agent FILE]       serve an agent to an editor, such as Zed
  holdfast eval FILE                run scenarios and report regressions
  holdfast fork KEY NEWKEY          copy a session's history into a new session
  holdfast sessions                 list sessions
  holdfast show KEY                 show the timeline of a session
  holdfast context KEY              show what fills its context, and how much is cached
  holdfast db <task>                check, back up, prune, vacuum or move the database

  holdfast init DIR                 create a project: agents, tools and prompts in files
  holdfast dev [DIR]                serve a project and reload changed files
  holdfast check [DIR]              list the problems of a project
  holdfast pack AGENT, unpack NAME  create or unpack a package of agents

  holdfast <command> --help         show help for a command
  holdfast --version

The assistant only reads, and only inside its folder. With --allow-write it can change files there, and you approve
each change. Without a model or a key it uses "offline", which searches and quotes without a network.

Exit codes: 0 completed, 1 failed, 2 wrong usage, 3 interrupted and resumable, 4 waiting for approval,
5 model unavailable.
`;

const readOptions = `  --dir PATH         the folder to work in (default: the current one); links that lead outside are refused
  --db PATH          the database: a file, or postgres://… (default: .holdfast/holdfast.db in the current folder)
  --model ID         openai:gpt-5.2, anthropic:claude-sonnet-4-5, google:gemini-2.5-pro,
                     openai-compatible:NAME@http://host:port/v1, or offline.
                     Default: HOLDFAST_MODEL, then the provider whose key is set (OPENAI_API_KEY,
                     ANTHROPIC_API_KEY, GOOGLE_GENERATIVE_AI_API_KEY), then offline.
                     HOLDFAST_PRICE="IN,OUT" sets its price in dollars per million tokens,
                     HOLDFAST_CONTEXT_WINDOW the tokens of its context, for the meter of holdfast chat
  --allow-network    adds the tool fetch_url for public web pages
  --json             prints one JSON event per line; the last line contains the outcome
`;

const shellOptions = `  --allow-shell      adds the tool shell, which runs commands with your rights, also outside the folder. Each command
                     requires your approval
  --allow-command C  lets commands that begin with these words run without approval, as in "npm test". Can be repeated
`;

const workOptions = `${readOptions}  --allow-write      adds the tools write_file and edit_file. Each change is shown as a diff and requires your approval.
                     Outside a terminal, the run waits and the command exits with 4
${shellOptions}  --yes              approves every change without asking
`;

const agentOption = `  --agent FILE       uses your agent instead of the assistant: a module whose default export is new Agent({...}) or its
                     options. The session keeps this agent
`;

const topics: Readonly<Record<string, string>> = {
	run: `holdfast run "<task>" [options]

Works on a task and shows the progress. Every step is committed: after Ctrl-C, a crash or a power loss,
\`holdfast resume\` continues from the last one.

Piped input and redirected files are part of the task. Without "<task>", the piped input is the task. A - among the
words waits for standard input and reads it to its end. Without any task, it asks "What is this project?"; if the
model can cost money, you are asked first.

${workOptions}  --session KEY      continues the conversation with this key (default: a new one)
${agentOption}
Examples:
  cat build.log | holdfast run "Why did it fail?"
  holdfast run "Which breaking changes does CHANGELOG.md list?" --dir ../project
  holdfast run "Where is the retry limit set?" --model anthropic:claude-sonnet-4-5
  cat question.txt | holdfast run
`,
	chat: `holdfast chat [options]

A conversation in the terminal. Answers stream, calls are shown as they run, and changes are shown as diffs for your
approval. Messages that you send while the agent works reach it before its next step. Esc interrupts it; press Ctrl-C
twice to leave. /help lists the commands. Every step is committed: leave at any time, and continue with --session KEY.

${readOptions.replace(/ {2}--json[\s\S]*$/, "")}  --allow-write      adds the tools write_file and edit_file; each change requires your approval
${shellOptions}  --yes              approves every change without asking
  --session KEY      continues the conversation with this key (default: a new one)
${agentOption}  --plain            prints line by line and never redraws, for screen readers. Also used if TERM is dumb, if
                     INK_SCREEN_READER is true, and in pipes, where each line is a message
`,
	resume: `holdfast resume [KEY] [options]

Resumes the interrupted run of a session; without KEY, of the most recently changed session. It uses the folder and the
model that the session was started with, unless you pass others. Changes that wait for approval are shown again. Without
a terminal, the options answer them; changes that the options do not name keep waiting.

${workOptions}  --approve CALL     approves a change. CALL is printed with its diff, as in call_7@1f3a9c02b4d1, and approves only that
                     version. Can be repeated
  --deny CALL        denies a change. Can be repeated
  --reason TEXT      the reason for the denial, which the model receives
${agentOption}`,
	worker: `holdfast worker [DIR | --agent FILE | --project DIR] [--db PATH] [--once] [--drain SECONDS] [--json]

Processes due work until it is stopped: runs and turns that a dead or stopped process left, notifications, scheduled
runs and background sub-agents. Prints a line when it starts a run and when the run ends. Any number of workers can
share one database; only one of them works on each run.

A worker continues the work of a server only if it runs the same --agent or project. Only another server without an
agent continues the sessions of a server without one.

  --agent FILE       a module whose default export is your agent: new Agent({...}), or its options.
                     Default: the assistant, with the folder and model stored in each command-line session
  --models FILE      models by name, as for the server of this agent; see holdfast serve --help. Also HOLDFAST_MODELS
  DIR, --project DIR processes the threads of a project. The default database is in the project's folder
  --db PATH          the database: a file, or postgres://… (default: .holdfast/holdfast.db in the current folder)
  --once             exits when nothing is due, for cron
  --drain SECONDS    time for active runs to finish after Ctrl-C or SIGTERM (default: 10). Unfinished runs are
                     suspended, and another worker resumes them
  --json             prints one JSON event per line; the last line has the type "end"

Environment: HOLDFAST_AGENT, HOLDFAST_MODELS, HOLDFAST_PROJECT, HOLDFAST_DB and HOLDFAST_DRAIN, as for holdfast serve.
Options take precedence.

When stopped, it exits with 0.
`,
	eval: `holdfast eval FILE [--repetitions N] [--concurrency N] [--baseline FILE] [--tolerance T] [--save FILE] [--json]

Runs scenarios and prints their figures: success, steps, times, failed tool calls, tokens and scores. The default export
of FILE is a list of scenarios: { name, agent, input, scorers }. Scorers are in @holdfast/runner/evaluation: exact,
contains, matchesSchema, scoredBy, judge.

  --repetitions N    runs per scenario (default: 1)
  --concurrency N    runs at a time (default: 1)
  --baseline FILE    an earlier report: lists figures that are worse, and exits with 1 if there are any
  --tolerance T      allowed decline, as a fraction of the earlier figure (default: 0.1)
  --save FILE        saves the report as a baseline
  --json             prints the report as JSON

Exits with 0, or with 1 if a figure is worse or a scenario never succeeded.
`,
	fork: `holdfast fork KEY NEWKEY [--at RUN] [--db PATH] [--json]

Creates the session NEWKEY with the history of KEY, up to the end of the last run that ended, or of the run with the id
RUN. The two continue independently: holdfast run "…" --session NEWKEY.
`,
	release: `holdfast release KEY [options]

Resumes a parked session. A run is parked when its process died repeatedly without finishing a step;
\`holdfast show KEY\` shows where. Fix the cause first. The crash count restarts at zero.

${workOptions}`,
	serve: `holdfast serve [DIR | --agent FILE | --project DIR] [--port N] [--host H] [options]

Serves an agent over HTTP, with durable sessions. POST /api/agent/execute streams a run, and a disconnected client
resumes where it left off. /openapi.json describes all routes, and / is a page that shows the sessions. On Ctrl-C or
SIGTERM the server accepts no new work, lets runs finish for a while, leaves the rest resumable, and exits with 0. Each
request is logged to stderr as one line of JSON.

  --agent FILE       a module whose default export is your agent: new Agent({...}), or its options.
                     Default: the assistant, which answers questions about the files in --dir
  DIR, --project DIR serves a project's threads under /api/threads, and its endpoints. The project is loaded once. The
                     default database is in the project's folder, and environment values can come from its .env file
  --models FILE      models by name, for forks in the page and for clients that may set the model: a module that exports
                     \`models\`, or JSON such as {"quick": "openai:gpt-5-mini"}. Default: the export \`models\` of --agent
  --db PATH          the database: a file, or postgres://… (default: .holdfast/holdfast.db in the current folder)
  --port N           the port (default: 4280); 0 selects a free one
  --host H           the address to listen on (default: 127.0.0.1). 0.0.0.0 is reachable by others and requires a key
  --api-key KEY      a key that callers must send, or TENANT=KEY. Can be repeated. Prefer HOLDFAST_API_KEYS, which other
                     users of the machine cannot see
  --cors ORIGIN      an origin whose pages may call the server. Can be repeated
  --allow-unauthenticated   accepts requests without a key, for use behind a proxy that authenticates
  --peer-header NAME the header in which your proxy reports the caller's address, such as X-Real-IP. After a hundred wrong
                     keys in a minute, an address is refused until the minute has passed
  --max-streams N    open streams per tenant (default: 1000), or "unlimited". Without keys, all callers are one tenant
  --clients-may-set FIELD   a field that clients may set in addition to their input: prompt, history, tools, model or
                     options (default: none). Can be repeated. Clients that set the prompt or the history can replace
                     your instructions
  --clients bring-context   clients define the sessions that they open: a new session needs a context, clients may set
                     every field, and JSON needs no content type. Only for clients that you trust as your own code
  --no-inspector     disables the page at /, if holders of a key must not see instructions and journals
  --drain SECONDS    time for runs to finish after a signal (default: 10)
  --dir, --model, --allow-network   options of the assistant; see holdfast run --help
  --json             prints the address as a line of JSON

Environment: HOLDFAST_AGENT, HOLDFAST_MODELS, HOLDFAST_PROJECT, HOLDFAST_DB, HOLDFAST_PORT, HOLDFAST_HOST,
HOLDFAST_API_KEYS and HOLDFAST_CORS (separated by commas), HOLDFAST_PEER_HEADER, HOLDFAST_MAX_STREAMS,
HOLDFAST_CLIENTS_MAY_SET (separated by commas), HOLDFAST_CLIENTS, HOLDFAST_DRAIN. Options take precedence.

Examples:
  holdfast serve
  HOLDFAST_API_KEYS="acme=$KEY" holdfast serve --agent agent.ts --host 0.0.0.0
`,
	acp: `holdfast acp [options]

Serves an agent to an editor over standard input and output, by the Agent Client Protocol. Name this command in the
editor's settings; you do not start it yourself. Each conversation of the editor is a durable session: if the editor or the
machine stops, it continues where it was when the editor loads it again. holdfast sessions and holdfast chat show the same
sessions. The editor asks for your permission where a call requires approval, and shows changes of files as diffs.

  --agent FILE       serves your agent instead of the assistant: a module whose default export is new Agent({...}) or its
                     options
  --dir PATH         the folder that the assistant works in (default: the editor's)
  --db PATH          the database: a file, or postgres://… (default: .holdfast/holdfast.db in the current folder)
  --model ID, --allow-network, --allow-write, --allow-shell, --allow-command CMD   options of the assistant; see holdfast run --help

Example, in the settings of Zed:
  "agent_servers": { "Holdfast": { "type": "custom", "command": "npx", "args": ["holdfast", "acp", "--allow-write"] } }
`,
	init: `holdfast init DIR

Creates a project in a folder: an agent, a prompt, two tools, a model, a hook, an effect, an endpoint and a test. It runs
without a key, because its model follows a few fixed rules. Never overwrites a file.
`,
	check: `holdfast check [DIR] [--json]

Loads a project (DIR or --project DIR; default: the current folder) and lists every problem with its file and field.
Writes agents/holdfast.d.ts, so that the compiler finds misspelt names. Exits with 0, or with 1 if there is a problem.
`,
	dev: `holdfast dev [DIR] [--port N] [--host H] [--db PATH] [--json]

Serves a project (DIR or --project DIR; default: the current folder) and reloads it when a file changes. Prints one line
for each change and each request. If a new version cannot be loaded, it prints the problem and keeps the previous one.
A turn in flight keeps the version it started with; the next turn uses the new one. Keeps agents/holdfast.d.ts up to
date. Ctrl-C stops the server.

  --port N           the port (default: 4280); 0 selects a free one
  --host H           the address to listen on (default: 127.0.0.1)
  --db PATH          the database (default: .holdfast/holdfast.db in the project's folder)
  --json             prints one JSON event per line
`,
	pack: `holdfast pack AGENT… --name PACKAGE [--out DIR] [--project DIR] [--release VERSION] [--effect NAME] [--endpoint KEY]

Creates a package of agents and everything they name, as plain JavaScript that you can publish or copy into
agents/packed/.

  --project DIR      the project; --dir also works (default: the current folder)
  --name PACKAGE     the package's name (default: packageName of the first agent)
  --out DIR          the output folder (default: packed/PACKAGE); nothing is overwritten
  --release VERSION  the version (default: that of the first agent, or 0.1.0)
  --effect NAME      an effect that projects may schedule. Can be repeated
  --endpoint KEY     a route to mount under threads, such as status.get. Can be repeated
`,
	unpack: `holdfast unpack PACKAGE [--project DIR]

Copies the files of a package into the project, so that you can edit them. Never overwrites a file.

  --project DIR      the project; --dir also works (default: the current folder)
`,
	sessions: `holdfast sessions [--db PATH] [--json]

Lists sessions, most recently changed first. Server sessions appear as TENANT/ID. With --json, prints one session per
line.
`,
	show: `holdfast show KEY [--db PATH] [--json]

Shows the timeline of a session: messages, steps, tool calls with durations, retries, crashes and resumes.
With --json, prints one journal entry per line.
`,
	context: `holdfast context KEY [--db PATH | --server URL [--api-key KEY]] [--json]

Shows what fills the context of a session's model: the sections with their tokens, their share and how much of them the
last call read from the provider's prompt cache, and what you can do about it. Tokens are estimates.

  --server URL       reads the session from a running server with an inspector, such as http://localhost:3000
  --api-key KEY      the key for that server. Also HOLDFAST_API_KEY
`,
	db: `holdfast db check [--full]
holdfast db backup DEST [--force]
holdfast db prune --older-than AGE [--keep N] [--fold-older-than AGE] [--dry-run]
holdfast db vacuum
holdfast db move FROM TO

Maintains the database while other processes use it. Only move needs exclusive access.

  check              reads everything and reports damage; exits with 1 if it finds any
    --full           also compares indexes with their tables, and bodies with their checksums, which takes longer
  backup DEST        copies a consistent snapshot, and checks it before it gets its name
    --force          replaces an existing file
  prune              frees space inside the file
    --older-than AGE       removes sessions unchanged since then, with those of their sub-agents; never one with an open
                           run or a queued input
    --keep N               keeps the N most recently changed sessions, regardless of age
    --fold-older-than AGE  in the remaining sessions, folds runs that ended before then into one entry: the
                           conversation stays, the details of the runs are removed
    --dry-run              reports what it would do, without doing it
  vacuum             returns free space to the disk and erases removed data; other processes wait for it
  move FROM TO       moves everything from a file to an empty server, or from a server to a new file, all or nothing:
                     holdfast db move .holdfast/holdfast.db postgres://app@db.internal/app. The source is renamed, not
                     removed

A postgres://… database supports check, prune and move; the server itself handles backups and free space.

AGE is a number with m, h, d or w: 90m, 12h, 30d, 8w.
  --db PATH          the database: a file, or postgres://… (default: .holdfast/holdfast.db in the current folder)
  --json             prints one line of JSON; prune prints one per session and one at the end
`,
};

/** Returns the help of a command, or the general help. */
export function helpText(topic: string | undefined): string {
	return (topic === undefined ? undefined : topics[topic]) ?? general;
}
