// Starts the page.
import { render } from "preact";
import { App } from "./app.tsx";
import "./page.css";
import "./sessions.css";
import "./menus.css";
import "./markdown.css";
import "./trace.css";
import "./usage.css";
import "./work.css";

render(<App />, document.querySelector("#root") as HTMLElement);
