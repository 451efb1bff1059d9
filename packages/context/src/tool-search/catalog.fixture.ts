// 215 tools such as those of widely used MCP servers: per server a prefix, then per line a name, a description and the
// names of the parameters.
import type { AnyTool } from "holdfast";

const servers = `
github_
create_issue|Opens a new issue in a repository.|owner repo title body labels assignees
get_issue|Returns one issue with its labels and state.|owner repo issue_number
list_issues|Lists the issues of a repository, filtered by state and labels.|owner repo state labels since
update_issue|Changes the title, body, state or labels of an issue.|owner repo issue_number title body state
add_issue_comment|Adds a comment to an issue or pull request.|owner repo issue_number body
search_issues|Searches issues and pull requests across repositories.|query sort order
create_pull_request|Opens a pull request from one branch into another.|owner repo title head base draft
get_pull_request|Returns one pull request.|owner repo pull_number
list_pull_requests|Lists the pull requests of a repository.|owner repo state head base
merge_pull_request|Merges a pull request.|owner repo pull_number merge_method
get_pull_request_diff|Returns the diff of a pull request.|owner repo pull_number
create_pull_request_review|Submits a review that approves, requests changes or comments.|owner repo pull_number event body
request_reviewers|Asks users or teams to review a pull request.|owner repo pull_number reviewers
get_file_contents|Returns the contents of a file or folder in a repository.|owner repo path ref
create_or_update_file|Writes one file to a repository as a commit.|owner repo path content message branch sha
push_files|Pushes several files in a single commit.|owner repo branch files message
create_branch|Creates a branch from another one.|owner repo branch from_branch
list_branches|Lists the branches of a repository.|owner repo page
list_commits|Lists the commits of a branch.|owner repo sha author
get_commit|Returns one commit with its changed files.|owner repo sha
create_repository|Creates a repository in an account.|name description private auto_init
fork_repository|Forks a repository into an account or organization.|owner repo organization
search_repositories|Searches repositories by name, topic or language.|query page
search_code|Searches source code across repositories.|query sort
list_workflow_runs|Lists the runs of a workflow of Actions.|owner repo workflow_id status
run_workflow|Starts a workflow of Actions by hand.|owner repo workflow_id ref inputs
get_job_logs|Returns the logs of a job of a workflow run.|owner repo job_id failed_only
create_release|Publishes a release with notes for a tag.|owner repo tag_name name body
list_notifications|Lists the notifications of the signed-in user.|filter since
list_secret_scanning_alerts|Lists secrets that were found in a repository.|owner repo state
slack_
post_message|Posts a message to a channel.|channel_id text
reply_to_thread|Posts a reply in a thread.|channel_id thread_ts text
add_reaction|Adds an emoji reaction to a message.|channel_id timestamp reaction
list_channels|Lists the public channels of the workspace.|limit cursor
get_channel_history|Returns recent messages of a channel.|channel_id limit
get_thread_replies|Returns all replies in a thread.|channel_id thread_ts
get_users|Lists the members of the workspace with their profiles.|cursor limit
get_user_profile|Returns the profile of one member.|user_id
search_messages|Searches messages by words, sender or channel.|query count
upload_file|Uploads a file and shares it in a channel.|channel_id filename content
set_status|Sets the status text and emoji of the signed-in member.|text emoji expiration
create_channel|Creates a public or private channel.|name is_private
invite_to_channel|Invites members to a channel.|channel_id users
schedule_message|Sends a message to a channel at a later time.|channel_id text post_at
gmail_
send_email|Sends an email with recipients, subject and body.|to cc bcc subject body attachments
draft_email|Saves an email as a draft.|to subject body
read_email|Returns the content of an email with its attachments.|message_id
search_emails|Searches emails with operators such as from: and has:attachment.|query max_results
delete_email|Deletes an email permanently.|message_id
modify_labels|Adds labels to an email or removes them, also to archive it.|message_id add_labels remove_labels
list_labels|Lists all labels of the mailbox.|
create_filter|Creates a filter that sorts incoming mail automatically.|criteria action
download_attachment|Saves an attachment of an email to a file.|message_id attachment_id path
calendar_
list_events|Lists the events of a calendar in a period.|calendar_id time_min time_max
create_event|Creates an event with time, place and attendees.|calendar_id summary start end attendees location
update_event|Changes an event, such as its time or title.|calendar_id event_id summary start end
delete_event|Deletes an event from a calendar.|calendar_id event_id
find_free_time|Finds periods in which all attendees are free.|calendar_ids time_min time_max duration
respond_to_event|Accepts or declines an invitation.|calendar_id event_id response
list_calendars|Lists the calendars of the account.|
drive_
search_files|Searches files and folders by name, type or full text.|query page_size
read_file|Returns the content of a document, sheet or other file.|file_id
create_folder|Creates a folder.|name parent_id
upload|Uploads a local file to a folder.|path parent_id mime_type
move_file|Moves a file to another folder.|file_id parent_id
share_file|Gives a person or group access to a file.|file_id email role
list_permissions|Lists who has access to a file.|file_id
export_file|Converts a document to PDF or another format.|file_id mime_type
sheets_
read_range|Returns the values of cells in a range.|spreadsheet_id range
update_range|Writes values into cells of a range.|spreadsheet_id range values
append_rows|Adds rows after the last row of a table.|spreadsheet_id range rows
create_spreadsheet|Creates a spreadsheet.|title
add_sheet|Adds a sheet (tab) to a spreadsheet.|spreadsheet_id title
create_chart|Draws a chart from a range of cells.|spreadsheet_id range type
jira_
search|Searches issues with JQL.|jql fields limit
create_issue|Creates a task, bug or story in a project.|project_key summary issue_type description priority
get_issue|Returns an issue with its history.|issue_key fields
transition_issue|Moves an issue to another status of its workflow.|issue_key transition_id
add_comment|Comments on an issue.|issue_key comment
add_worklog|Logs the time that was spent on an issue.|issue_key time_spent started
assign_issue|Assigns an issue to a person.|issue_key assignee
get_sprint_issues|Lists the issues of a sprint.|sprint_id
get_boards|Lists the agile boards of a project.|project_key
create_sprint|Creates a sprint on a board.|board_id name start_date end_date goal
link_issues|Links two issues, for example as blocking.|type inward_issue outward_issue
link_to_epic|Puts an issue into an epic.|issue_key epic_key
confluence_
search_pages|Searches pages of the wiki by title or text.|query space limit
get_page|Returns the content of a page.|page_id
create_page|Creates a page in a space of the wiki.|space_key title content parent_id
update_page|Replaces the content of a page.|page_id title content
add_page_comment|Comments on a page.|page_id content
list_spaces|Lists the spaces of the wiki.|
linear_
create_ticket|Creates a ticket for a team.|team_id title description priority
list_tickets|Lists tickets by team, state, assignee or cycle.|team_id state assignee cycle
update_ticket|Changes the state, priority or assignee of a ticket.|id state priority assignee
get_current_cycle|Returns the current cycle of a team with its progress.|team_id
create_project|Creates a project with a target date.|name team_ids target_date
list_teams|Lists the teams of the workspace.|
notion_
query_database|Queries a database with filters and sorts.|database_id filter sorts
create_note|Creates a page below a page or in a database.|parent properties children
append_blocks|Appends paragraphs, headings or lists to a page.|block_id children
retrieve_block_children|Returns the blocks of a page.|block_id
create_database|Creates a database with properties.|parent title properties
search_workspace|Searches pages and databases by title.|query filter
filesystem_
read_text_file|Reads a text file from the disk.|path head tail
read_media_file|Reads an image or audio file as base64.|path
read_multiple_files|Reads several files at once.|paths
write_file|Writes a file, replacing what it contained.|path content
edit_file|Replaces parts of a text file and shows the diff.|path edits dry_run
create_directory|Creates a directory with its parents.|path
list_directory|Lists the files and directories in a directory.|path
directory_tree|Returns a recursive tree of a directory as JSON.|path
rename_file|Moves or renames a file or directory.|source destination
find_files|Finds files whose names match a pattern.|path pattern exclude_patterns
get_file_info|Returns size, times and permissions of a file.|path
git_
status|Shows the state of the working tree.|repo_path
diff_unstaged|Shows changes that are not staged.|repo_path
diff_staged|Shows the changes that are staged for the next commit.|repo_path
commit|Records the staged changes with a message.|repo_path message
add|Stages files.|repo_path files
reset|Unstages all changes.|repo_path
log|Shows the history of commits.|repo_path max_count
checkout|Switches to a branch.|repo_path branch_name
stash|Puts changes of the working tree aside.|repo_path message
blame|Shows who last changed each line of a file.|repo_path path
browser_
navigate|Opens an address in the browser.|url
click|Clicks an element of the page.|element ref
type|Types text into an input of the page.|element ref text submit
screenshot|Takes a picture of the page or of an element.|filename full_page element
snapshot|Returns the accessibility tree of the page.|
select_option|Chooses an option of a dropdown.|element ref values
hover|Moves the mouse over an element.|element ref
press_key|Presses a key of the keyboard.|key
file_upload|Chooses files in a file input of the page.|paths
evaluate|Runs JavaScript in the page.|function element
console_messages|Returns what the page wrote to the console.|level
network_requests|Lists the requests that the page has made.|
wait_for|Waits until a text appears or disappears, or for a time.|text text_gone time
resize|Sets the size of the browser window.|width height
tab_list|Lists the open tabs.|
close|Closes the browser.|
handle_dialog|Accepts or dismisses an alert or a prompt of the page.|accept prompt_text
fill_form|Fills in several fields of a form.|fields
go_back|Returns to the previous page.|
pdf_save|Saves the page as a PDF.|filename
postgres_
query|Runs a read-only SQL query.|sql
list_tables|Lists the tables of a schema.|schema
describe_table|Returns the columns, types and indexes of a table.|table schema
explain_query|Returns the plan of a query.|sql analyze
execute_sql|Runs SQL that changes data or tables.|sql
analyze_db_health|Checks the health of the database: caches, connections, vacuum.|health_type
get_top_queries|Lists the slowest queries.|sort_by limit
recommend_indexes|Suggests indexes for a workload.|queries
redis_
get_value|Returns the value of a key.|key
set_value|Stores a value under a key with a lifetime.|key value expire_seconds
delete_keys|Deletes keys.|keys
scan_keys|Lists the keys that match a pattern.|pattern count
publish|Publishes a message to subscribers of a topic.|channel message
stripe_
create_customer|Creates a customer.|name email
list_customers|Lists customers, also by email.|email limit
create_product|Creates a product.|name description
create_price|Sets a price for a product.|product unit_amount currency recurring
create_payment_link|Creates a link through which a customer can pay.|price quantity
create_invoice|Creates an invoice for a customer.|customer days_until_due
finalize_invoice|Finalizes a draft of an invoice so that it can be sent.|invoice
create_refund|Refunds a payment, in full or in part.|payment_intent amount reason
list_subscriptions|Lists subscriptions by customer, price or status.|customer price status
cancel_subscription|Cancels a subscription.|subscription
update_subscription|Changes the items of a subscription.|subscription items proration_behavior
retrieve_balance|Returns the balance of the account.|
list_disputes|Lists disputes and chargebacks.|charge payment_intent
create_coupon|Creates a coupon with a discount.|percent_off amount_off duration
sentry_
find_errors|Searches error groups of a project.|organization project query
get_error_details|Returns the stack trace and context of an error.|issue_id organization
resolve_error|Marks an error as resolved or ignored.|issue_id status
find_releases|Lists releases and their deployments.|organization project
list_projects|Lists the monitored projects of an organization.|organization
create_dsn|Creates a key with which a client reports events.|organization project name
datadog_
query_metrics|Queries time series of metrics.|query from to
list_monitors|Lists monitors and their alert state.|tags group_states
mute_host|Silences the alerts of a host.|hostname end message
search_logs|Searches log lines.|query from to limit
list_traces|Lists traces of slow or failing requests of a service.|query from to service
get_dashboard|Returns the widgets of a dashboard.|dashboard_id
create_incident|Declares an incident with a severity.|title severity commander
pagerduty_
list_oncalls|Lists who is on call now or at a time.|schedule_ids since until
acknowledge_incident|Acknowledges an incident so that it no longer escalates.|incident_id
escalate_incident|Escalates an incident to the next level.|incident_id level
override_schedule|Lets another person take over a shift.|schedule_id user_id start end
aws_
list_buckets|Lists S3 buckets.|
get_object|Downloads an object from an S3 bucket.|bucket key
put_object|Uploads an object to an S3 bucket.|bucket key body
list_instances|Lists EC2 instances with their state.|region filters
start_instance|Starts an EC2 instance.|instance_id
stop_instance|Stops an EC2 instance.|instance_id
invoke_lambda|Invokes a Lambda function with a payload.|function_name payload
get_cost_and_usage|Returns costs by service and period.|start end granularity group_by
kubernetes_
list_pods|Lists pods in a namespace.|namespace label_selector
pod_logs|Returns the logs of a pod.|name namespace container tail
apply_manifest|Applies a YAML manifest to the cluster.|manifest namespace
scale_deployment|Sets the number of replicas of a deployment.|name namespace replicas
rollout_restart|Restarts the pods of a deployment one by one.|name namespace
delete_resource|Deletes a resource of any kind.|kind name namespace
maps_
geocode|Converts an address to coordinates.|address
directions|Returns a route between two places.|origin destination mode
search_places|Searches restaurants, shops and other places nearby.|query location radius
distance_matrix|Returns travel times between many origins and destinations.|origins destinations mode
elevation|Returns the height above sea level of locations.|locations
weather_
get_forecast|Returns the forecast for a place.|latitude longitude days
get_alerts|Returns weather warnings for a region.|region
web_
fetch|Downloads a web page and converts it to Markdown.|url max_length
search_web|Searches the web.|query count
news_search|Searches recent news articles.|query freshness
image_search|Searches images on the web.|query count
`;

/** The tools of the catalog. */
export const catalog: readonly (AnyTool & { readonly name: string })[] = toolsOf(servers);

function toolsOf(text: string): (AnyTool & { readonly name: string })[] {
	let prefix = "";
	return text
		.trim()
		.split("\n")
		.flatMap((line) => {
			const [name = "", description = "", parameters = ""] = line.split("|");
			if (!line.includes("|")) {
				prefix = name;
				return [];
			}
			const properties = Object.fromEntries(
				parameters
					.split(" ")
					.filter(Boolean)
					.map((each) => [each, { type: "string" }]),
			);
			const full = `${prefix}${name}`;
			return [
				{
					name: full,
					description,
					parameters: { type: "object", properties },
					run: () => `ran ${full}`,
				},
			];
		});
}
