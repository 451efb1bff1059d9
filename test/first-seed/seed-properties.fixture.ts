// Has all properties draw their input from the first seed of the run.
import fc from "fast-check";

fc.configureGlobal({ seed: Number(process.env.HOLDFAST_FIRST_SEED) });
