// Words that people use for what tools call by another name. They are general English and the vocabulary of computers, and
// are not taken from any list of tools.

/** Words of one line mean much the same in a search for tools. */
const groups = `
get list fetch show find search look read retrieve view see display query check lookup
create add new make insert write put open raise start set
delete remove erase forget drop clear discard rid
update edit change modify patch replace set fix write
run execute start launch trigger evaluate
stop cancel end close shut quit kill terminate
move rename
send post tell message say write
reply answer respond
download fetch pull get scrape crawl
save store write keep export
load open read
folder directory
file document
picture image photo screenshot
ticket issue bug defect problem error
error exception crash failure
website site page web url
click press tap hit push
type enter fill input
people user person member colleague who
remember memory store note fact observation
note comment annotation
popup dialog alert
visit navigate open go browse
big large size space disk
altitude elevation height high
address geocode coordinates location place
route directions drive travel way
far distance time
shop restaurant business place cafe
near nearby around place
news web search
google web search internet
sql database table query
row record entry item
column field property attribute
document record
approve accept review reviewer feedback
merge land squash
check ci status test build
react reaction emoji heart thumbs
javascript js script code
attach attachment upload
grab take capture
repeat echo
copy duplicate fork clone
latest recent newest history
change commit diff
undo reset revert restore rollback rollout
deploy apply release install
scale replicas copies instances
restart rollout
crash error log describe
log output print
http request network call
comment reply paragraph text
paragraph block text
text content body
fast performance speed slow
conversation thread channel chat
terminal shell console command process
computer machine system
container pod
cluster context environment
article paper publication study
similar related like
price product extract
watch monitor notify
mobile device phone emulate
video recording screencast record
number count many amount
sum total aggregate average
structure schema tree fields
permission allowed access
window size viewport
mouse hover pointer
key keyboard
tab window page
wait hold until
dropdown option select choose pick
button element
profile account
`;

/** What stands for several words. */
const phrases: Readonly<Record<string, string>> = {
	pr: "pull request",
	prs: "pull request",
	mr: "merge request",
	repo: "repository",
	repos: "repository",
	docs: "documentation",
	db: "database",
	app: "application",
	js: "javascript",
};

const related: ReadonlyMap<string, ReadonlySet<string>> = relatedWords();

function relatedWords(): ReadonlyMap<string, ReadonlySet<string>> {
	const found = new Map<string, Set<string>>();
	for (const line of groups.trim().split("\n")) {
		const words = line.split(" ");
		for (const word of words) found.set(word, new Set([...(found.get(word) ?? []), ...words]));
	}
	for (const [short, long] of Object.entries(phrases)) found.set(short, new Set(long.split(" ")));
	return found;
}

/** Returns the words related to a word. `stem` reduces a word to its stem. */
export function relatedTo(word: string, stem: (word: string) => string): readonly string[] {
	const found = [...(related.get(word) ?? []), ...(related.get(stem(word)) ?? [])];
	return [...new Set(found)].filter((each) => stem(each) !== stem(word));
}
