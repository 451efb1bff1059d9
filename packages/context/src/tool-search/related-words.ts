// Words that people use for what tools call by another name. They are general English and the vocabulary of computers, and
// are not taken from any list of tools.

/** Words of one line mean much the same in a search for tools. */
const groups = `
folder directory
file document
picture image photo
ticket issue bug
website site page web url
click press tap
type enter fill write
rename move
remove delete erase forget discard drop
make create new start open raise
change edit update modify fix
look find search lookup
read get show retrieve view open
list show all what
tell send post message say dm
reply answer respond
people user person member colleague who
remember memory store note
popup dialog alert
visit navigate open go
big large size space
altitude elevation height high
address geocode coordinates location
route directions drive travel
far distance
shop restaurant business place cafe
news web search
google web search
sql database table query row
approve review reviewer feedback
merge land squash
check ci status test
react reaction emoji heart thumbs
javascript script evaluate execute run
attach upload
grab take capture
repeat echo
copy duplicate fork clone
latest recent newest history
undo reset revert discard restore
deploy apply create
scale replicas copies
restart rollout
crash error log describe
http request network call
comment reply paragraph text
paragraph block text
shut close quit
add append
fetch pull download
save commit write
fast performance speed slow
column field property
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

/** Returns the words related to those of a query, without these. `stem` reduces a word to its stem. */
export function relatedTo(words: readonly string[], stem: (word: string) => string): readonly string[] {
	const stems = new Set(words.map(stem));
	const found = new Set<string>();
	for (const word of words)
		for (const each of related.get(word) ?? related.get(stem(word)) ?? [])
			if (!stems.has(stem(each))) found.add(each);
	return [...found];
}
