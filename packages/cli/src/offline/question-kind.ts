/** Tells from the wording of a task which kind of answer it wants: the first form that fits decides. */

/** The kinds of answer the offline model can put together. */
export type QuestionKind =
	| "overview"
	| "list"
	| "count"
	| "definition"
	| "where"
	| "how"
	| "when"
	| "changes"
	| "value"
	| "who"
	| "general";

/** A way of asking. */
interface Form {
	readonly kind: QuestionKind;
	readonly asks: RegExp;
	readonly unless?: RegExp;
	/** Only for tasks that name a release. */
	readonly ofRelease?: true;
}

/** A noun in the plural, with up to two words before it. */
const PLURAL =
	"(?:[a-z-]+ ){0,2}?(?!(?:does|is|was|has|this)\\b)[a-z-]{2,}[^su\\W]s\\b(?! (?:is|was|has)\\b)";
const WHOLE =
	"(?:project|repo|repository|package|library|module|tool|codebase|code base|folder|directory|program|app)";

const FORMS: readonly Form[] = [
	{
		kind: "count",
		asks: /\bhow (?:many|much)\b|\b(?:number|count) of\b|^count\b/,
		// "The default number of lamps" is set somewhere; there is nothing to count.
		unless: /\b(?:default|initial|max(?:imum)?|min(?:imum)?) (?:number|count) of\b/,
	},
	{
		kind: "changes",
		ofRelease: true,
		asks: /\b(?:what(?:'?s| is| was| has| are| were)?|which|list|show|summari[sz]e|tell me).{0,40}\b(?:chang|new\b|came\b|come\b|differ|happen|update|add|fix|remov|improv|break|deprecat)/,
	},
	{ kind: "when", asks: /\bwhen\b|\bwhat date\b|\brelease date\b|\bsince when\b/ },
	{
		kind: "when",
		asks: /\b(?:which|what) (?:version|release)\b.{0,60}\b(?:add|introduc|remov|drop|fix|chang|deprecat|releas|first|start|began|support|appear|land|rename)/,
	},
	{ kind: "list", asks: new RegExp(`\\bsummari[sz]e (?:all )?the ${PLURAL}`) },
	{
		kind: "overview",
		asks: /^(?:please )?(?:summari[sz]e|give (?:me )?(?:an? )?(?:overview|summary)|describe)\b|\b(?:overview|summary) of\b/,
	},
	{
		kind: "overview",
		asks: new RegExp(
			`\\bwhat(?:'s| is| does) (?:this|the) ${WHOLE}(?: (?:about|for|do|all about|used for))?\\s*(?:[?.,]|$)`,
		),
	},
	{
		kind: "overview",
		asks: /\bwhat is (?:this|it)(?: about)?\s*(?:\?|$)|\bwhat is (?:this|the) (?:project|repo|repository|codebase|package|library)\b/,
	},
	{ kind: "where", asks: /\bwhere\b/ },
	{
		kind: "where",
		asks: /\b(?:which|what) (?:file|files|module|line|directory|folder)\b.{0,80}\b(?:defin|declar|implement|contain|export|live|locat|configur|handl|set|creat|hold|find|is|are|has|does)/,
	},
	{ kind: "who", asks: /\bwho\b|\bwhose\b/ },
	{ kind: "value", asks: /\bdefaults?\b/, unless: /^(?:which|list|what are)\b.{0,30}\bdefaults\b/ },
	{
		kind: "how",
		asks: /\bhow (?:do|can|should|would|must)\b|\bhow to\b|\bhow does one\b|\bsteps to\b|\binstructions? (?:for|to)\b|\b(?:what|which) command\b/,
	},
	{ kind: "general", asks: /\bhow (?:is|are|does)\b/ },
	{
		kind: "definition",
		asks: /\bwhat (?:does|do|is|are)\b.{0,100}\b(?:do|return|mean|for)\s*\??\s*$|\bwhat does\b.{0,80}\b(?:do|return|mean|accept|take|stand for)\b/,
	},
	{
		kind: "definition",
		asks: /\bwhat (?:is|'s) (?:the purpose|an?|`|the `|the (?:function|class|method|meaning|role))|^define\b|\bexplain\b|\bpurpose of\b|\bdifferences? between\b|\bcompare\b/,
	},
	{ kind: "list", asks: new RegExp(`\\b(?:what|which) ${PLURAL}`) },
	// "Which lamp does …" asks for one thing.
	{
		kind: "value",
		asks: /^(?:so |and |now )?(?:in \S+ )?(?:what|which) (?:is the )?(?:[a-z-]+ ){1,3}?(?:does|is|was|did|has|can|must|should)\b/,
	},
	{
		kind: "list",
		asks: /\blist\b|\benumerate\b|\bname (?:all|the|every|each)\b|\bwhat (?:are|were)\b|\b(?:show|give)(?: me)?(?: all)? the\b|\ball (?:the )?\w+/,
	},
	{
		kind: "list",
		asks: /\bwhich\b.{1,60}\b(?:are|does|do|have|has|were|exist|is|did|can)\b|\bwhat\b.{1,60}\b(?:are there|does|do|are|were|exist|can)\b/,
	},
	{ kind: "value", asks: /\bwhat (?:is|was)\b|\bwhich\b|\bwhat\b.{1,40}\b(?:is|was|does)\b/ },
];

/** The kind of answer a task wants; `ofRelease` when it names a release. */
export function kindOf(task: string, ofRelease: { readonly namesRelease: boolean }): QuestionKind {
	const text = task.toLowerCase().replace(/\s+/g, " ").trim();
	const form = FORMS.find(
		({ asks, unless, ofRelease: only }) =>
			(only !== true || ofRelease.namesRelease) && asks.test(text) && unless?.test(text) !== true,
	);
	return form?.kind ?? "general";
}
