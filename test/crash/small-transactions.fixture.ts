// Loaded first by a process that is to be killed in the middle of long work: every look at the clock takes long, so each
// transaction takes as few rows as it can, on any machine, and few rows are long work.
let now = performance.now();
performance.now = () => {
	now += 1_000;
	return now;
};
