/** The texts of `--help`. */

const general = `holdfast: an assistant that works on a folder of files, durably.

  holdfast run "<task>" [options]   work on a task; an interrupted run can be resumed
  holdfast chat                     talk, in the terminal
  holdfast resume [KEY]             resume an interrupted session
  holdfast worker [--agent FILE]    work on what is due, as long as it is not stopped
  holdfast release KEY              resume a session that is parked
  holdfast serve [--agent FILE]     serve an agent over HTTP
  holdfast eval FILE                run scenarios, and say what got worse
  holdfast fork KEY NEWKEY          a new session that begins with the past of this one
  holdfast sessions                 list the sessions
  holdfast show KEY                 the timeline of a session
  holdfast db <task>                check, backup, prune, vacuum or move the database

  holdfast init DIR                 a new project of agents, tools and prompts in files
  holdfast dev [DIR]                follow a project's files while you write them
  holdfast check [DIR]              say what is wrong with a project
  holdfast pack AGENT, unpack NAME  packages of agents, made and taken apart

  holdfast <command> --help         more about a command
  holdfast --version

The assistant only reads, and only inside its folder; with --allow-write it changes files there, each change approved
by you. Without a model and without a key it uses "offline", which searches and cites and needs no network.

Exit codes: 0 completed, 1 failed, 2 wrong usage, 3 interrupted and resumable, 4 waiting for approval,
5 the model is unavailable.
`;

const readOptions = `  --dir PATH         the folder to work in (default: here); links that lead out are refused
  --db PATH          the database: a file, or postgres://… (default: .holdfast/holdfast.db in the current folder)
  --model ID         openai:gpt-5.2, anthropic:claude-sonnet-4-5, google:gemini-2.5-pro,
                     openai-compatible:NAME@http://host:port/v1, or offline.
                     Default: HOLDFAST_MODEL, else by the key that is set (OPENAI_API_KEY,
                     ANTHROPIC_API_KEY, GOOGLE_GENERATIVE_AI_API_KEY), else offline
                     HOLDFAST_PRICE="IN,OUT" is its price, dollars for a million tokens
  --allow-network    adds the tool fetch_url for public web pages
  --json             one event a line as JSON; the last line says how it ended
`;

const workOptions = `${readOptions}  --allow-write      adds the tools write_file and edit_file. Each change is shown as a diff and needs your approval:
                     in a terminal you are asked, elsewhere the run waits and the command exits with 4
  --yes              approves every change without asking
`;

const agentOption = `  --agent FILE       a module whose default export is your agent: new Agent({...}), or its options, in place of the
                     assistant. The session keeps to it
`;

const topics: Readonly<Record<string, string>> = {
	run: `holdfast run "<task>" [options]

Works on a task and shows it live. Without "<task>" it is what is piped in; with - that is waited for. Every step is kept: after Ctrl-C, a crash or a loss of power,
\`holdfast resume\` continues where it was.

What comes through a pipe or a file of the shell is part of the task; a - among the words reads standard input to its
end, whatever it is. Without a task it asks what the project is; at a model that may cost money you are asked first.

${workOptions}  --session KEY      continue the conversation of this key (default: a new one)
${agentOption}
Examples:
  cat build.log | holdfast run "Why did it fail?"
  holdfast run "Which breaking changes does CHANGELOG.md list?" --dir ../project
  holdfast run "Where is the retry limit set?" --model anthropic:claude-sonnet-4-5
  cat question.txt | holdfast run
`,
	chat: `holdfast chat [options]

A conversation in the terminal. Answers stream, calls are shown as they run, changes are shown as diffs and asked for.
What you write while it works is said to it; Esc interrupts it, Ctrl-C twice leaves. /help lists the commands.
Every step is kept: leave at any time, and continue with --session KEY.

${readOptions.replace(/ {2}--json[\s\S]*$/, "")}  --allow-write      adds the tools write_file and edit_file; each change needs your approval
  --yes              approves every change without asking
  --session KEY      continue the conversation of this key (default: a new one)
${agentOption}  --plain            line by line, with nothing that is drawn anew: for screen readers. Also where TERM is dumb,
                     where INK_SCREEN_READER is true, and in pipes, where each line is a message
`,
	resume: `holdfast resume [KEY] [options]

Resumes the interrupted run of a session; without KEY, of the session that changed last.
It works in the folder and with the model it was started with, unless others are given. Changes that wait for approval
are shown again and asked for; without a terminal the options answer them, and what they do not name keeps waiting.

${workOptions}  --approve CALL     lets a change run; CALL is shown with its diff, as call_7@1f3a9c02b4d1: that version and no other.
                     May be given several times
  --deny CALL        refuses one, may be given several times
  --reason TEXT      the reason, which the model gets
${agentOption}`,
	worker: `holdfast worker [DIR | --agent FILE | --project DIR] [--db PATH] [--once] [--drain SECONDS] [--json]

Works on what is due until it is stopped: runs and turns that a dead or stopped process left, notifications and
scheduled runs, background sub-agents. Prints each run when it starts on it, and how it ended. Any number of workers
may share one database; each run is worked on by one of them.

What a server left is continued by a worker that has what it serves: the same --agent, or the same project. Sessions of
a server of the assistant are continued by such a server only.

  --agent FILE       a module whose default export is your agent: new Agent({...}), or its options.
                     Default: the assistant, with the folder and model of each session of the command line
  --models FILE      models by name that a server of this agent has; see: holdfast serve --help. Also in HOLDFAST_MODELS
  DIR, --project DIR a project of files: its threads are worked on. Its database is in its folder by default
  --db PATH          the database: a file, or postgres://… (default: .holdfast/holdfast.db in the current folder)
  --once             end when nothing is due any more, for cron
  --drain SECONDS    how long active runs may continue after Ctrl-C or SIGTERM (default 10);
                     what has not ended by then is suspended, and resumed by another worker
  --json             one event a line as JSON; the last line is of type "end"

Environment: HOLDFAST_AGENT, HOLDFAST_MODELS, HOLDFAST_PROJECT, HOLDFAST_DB and HOLDFAST_DRAIN, as of holdfast serve.
An option comes before them.

Stopped, it exits with 0.
`,
	eval: `holdfast eval FILE [--repetitions N] [--concurrency N] [--baseline FILE] [--tolerance T] [--save FILE] [--json]

Runs scenarios and prints their figures: success, steps, times, failed calls of tools, tokens and scores. FILE is a
module whose default export is a list of scenarios: { name, agent, input, scorers }. Scorers are in
@holdfast/runner/evaluation: exact, contains, matchesSchema, scoredBy, judge.

  --repetitions N    runs of each scenario (default 1)
  --concurrency N    runs at a time (default 1)
  --baseline FILE    an earlier report: exits with 1 when a figure is worse, and names it
  --tolerance T      how much worse it may be, as a part of what it was (default 0.1)
  --save FILE        keeps the report, as a baseline for later
  --json             prints the report as JSON

Exits with 0, or with 1 when something got worse or a scenario never succeeded.
`,
	fork: `holdfast fork KEY NEWKEY [--at RUN] [--db PATH] [--json]

Makes a session under NEWKEY that begins with what KEY has come to: up to the end of the last run that ended, or of
the run with the id RUN. Each continues by itself: holdfast run "…" --session NEWKEY.
`,
	release: `holdfast release KEY [options]

Resumes a parked session. A run is parked when its process died again and again without finishing a step:
\`holdfast show KEY\` shows where. Fix the cause first; the count of its crashes restarts at zero.

${workOptions}`,
	serve: `holdfast serve [DIR | --agent FILE | --project DIR] [--port N] [--host H] [options]

Serves an agent over HTTP, with durable sessions: POST /api/agent/execute streams a run, and a watcher that was cut
off resumes where it left. /openapi.json describes all of it, and / is a page that shows the sessions. On Ctrl-C or SIGTERM it takes no new work, lets runs
finish for a while, leaves the others resumable, and exits with 0. Each request is one line of JSON on stderr.

  --agent FILE       a module whose default export is your agent: new Agent({...}), or its options.
                     Default: the assistant, which answers about the files of --dir
  DIR, --project DIR a project of files: its threads are served under /api/threads, and its own endpoints. It is loaded
                     once; its database is in the project's folder by default, and its values of the
                     environment may be in its file .env
  --models FILE      models by name, which forks in the page may be given, and clients that may set the model: a module
                     that exports \`models\`, or JSON such as {"quick": "openai:gpt-5-mini"}. Default: what the module
                     of --agent exports as \`models\`
  --db PATH          the database: a file, or postgres://… (default: .holdfast/holdfast.db in the current folder)
  --port N           the port (default: 4280); 0 takes a free one
  --host H           the address to listen on (default: 127.0.0.1). Others can reach 0.0.0.0, so it needs a key
  --api-key KEY      a key that callers must send, or TENANT=KEY; may be given again. Better in
                     HOLDFAST_API_KEYS, which other users of the machine cannot see
  --cors ORIGIN      an origin whose pages may call the server; may be given again
  --allow-unauthenticated   serves everybody without a key, for use behind a proxy that authenticates
  --peer-header NAME   behind a proxy: the header in which it says who calls, such as X-Real-IP. Who sends a hundred
                     wrong keys in a minute is refused for the rest of it, by address
  --max-streams N    streams that a tenant may have open (default: 1000), or "unlimited". Without keys all are one tenant
  --clients-may-set FIELD   what clients may set beside their input: prompt, history, tools, model or options (default:
                     nothing); may be given again. Who may set the prompt or the history speaks in your place
  --no-inspector     without the page at /, for keys whose holders are not to see instructions and journals
  --drain SECONDS    how long runs may continue after a signal (default: 10)
  --dir, --model, --allow-network   of the assistant; see: holdfast run --help
  --json             says where it listens as a line of JSON

Environment: HOLDFAST_AGENT, HOLDFAST_MODELS, HOLDFAST_PROJECT, HOLDFAST_DB, HOLDFAST_PORT, HOLDFAST_HOST, HOLDFAST_API_KEYS and HOLDFAST_CORS (with
commas), HOLDFAST_PEER_HEADER, HOLDFAST_MAX_STREAMS, HOLDFAST_CLIENTS_MAY_SET (with commas), HOLDFAST_DRAIN. An option
comes before them.

Examples:
  holdfast serve
  HOLDFAST_API_KEYS="acme=$KEY" holdfast serve --agent agent.ts --host 0.0.0.0
`,
	init: `holdfast init DIR

Makes a project in a folder: an agent, a prompt, two tools, a model, a hook, an effect, an endpoint and a test. It runs at
once, without a key: its model is one of a few rules. Nothing is overwritten.
`,
	check: `holdfast check [DIR] [--json]

Loads a project (DIR or --project DIR; default: the current folder) and lists all that is wrong with it, with file and field. Writes
agents/holdfast.d.ts, with which the compiler finds misspelt names. Exits with 0, or with 1 when something is wrong.
`,
	dev: `holdfast dev [DIR] [--port N] [--host H] [--db PATH] [--json]

Serves a project (DIR or --project DIR; default: the current folder) and follows its files: each change is loaded and printed in one line, or what is wrong with it, while the
version before still counts. Threads stay: a turn under way keeps the version that it began with, the next one has the new
one. Keeps agents/holdfast.d.ts as it must be. Prints a line for each request. Ctrl-C stops.

  --port N           the port (default: 4280); 0 takes a free one
  --host H           the address to listen on (default: 127.0.0.1)
  --db PATH          the database (default: .holdfast/holdfast.db in the project's folder)
  --json             one event a line as JSON
`,
	pack: `holdfast pack AGENT… --name PACKAGE [--out DIR] [--project DIR] [--release VERSION] [--effect NAME] [--endpoint KEY]

Makes a package of agents, with all that they name, as plain JavaScript: to be published, or put into agents/packed/.

  --project DIR      the project, also as --dir (default: the current folder)
  --name PACKAGE     its name (default: the packageName of the first agent)
  --out DIR          where it is written (default: packed/PACKAGE); nothing is overwritten
  --release VERSION  its version (default: that of the first agent, or 0.1.0)
  --effect NAME      an effect that projects may schedule; may be given again
  --endpoint KEY     a route to mount beneath threads, such as status.get; may be given again
`,
	unpack: `holdfast unpack PACKAGE [--project DIR]

Copies what a package has into the project, as its own files. Nothing is overwritten.

  --project DIR      the project, also as --dir (default: the current folder)
`,
	sessions: `holdfast sessions [--db PATH] [--json]

Lists the sessions, the last changed first; those of a server as TENANT/ID. --json: one session a line.
`,
	show: `holdfast show KEY [--db PATH] [--json]

Shows the timeline of a session: messages, steps, tool calls with durations, retries, crashes and resumes.
--json: one entry of the journal a line.
`,
	db: `holdfast db check [--full]
holdfast db backup DEST [--force]
holdfast db prune --older-than AGE [--keep N] [--fold-older-than AGE] [--dry-run]
holdfast db vacuum
holdfast db move FROM TO

Looks after the database, while other processes use it; move wants it for itself.

  check              reads all of it and says what is damaged; exit code 1 when something is
    --full           also compares indexes with their tables, which takes longer
  backup DEST        a copy of one moment, checked before it gets its name
    --force          replaces a file that is there
  prune              makes room inside the file
    --older-than AGE       removes sessions that nothing was said in since, with those of their sub-agents;
                           never one with an open run or with something waiting
    --keep N               leaves the N sessions that changed last, however old they are
    --fold-older-than AGE  in sessions that stay, folds runs that ended before into one entry: the conversation
                           stays, what happened inside the runs goes
    --dry-run              only says what it would do
  vacuum             gives free room back, and really erases what was removed; others wait while it works
  move FROM TO       moves all of it from a file to an empty server, or from a server to a new file, whole or not at all:
                     holdfast db move .holdfast/holdfast.db postgres://app@db.internal/app. What was moved stays where it
                     was, under another name

On postgres://… there are check, prune and move: a server looks after copies and free room itself.

AGE is a number with m, h, d or w: 90m, 12h, 30d, 8w.
  --db PATH          the database: a file, or postgres://… (default: .holdfast/holdfast.db in the current folder)
  --json             one line of JSON for what was found or done; prune: one a session, and one at the end
`,
};

/** Returns the help of a command, or the general help. */
export function helpText(topic: string | undefined): string {
	return (topic === undefined ? undefined : topics[topic]) ?? general;
}
