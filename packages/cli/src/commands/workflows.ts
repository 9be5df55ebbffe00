import { Command, InvalidArgumentError, Option } from 'commander'
import { addClientOptions, addModuleOption } from '../client.ts'
import { parseJson, parsePayload } from '../json-argument.ts'
import { addWatchOptions } from '../watch.ts'
import { addAuthorOption } from './retry.ts'
import { parseLimit } from './worker-options.ts'
import { change, list, resume, show, signal } from './workflows-actions.ts'

const help = `
A workflow is a graph of jobs. Its steps end as completed, failed, skipped or cancelled; when it fails or is cancelled, what
it did is undone, the last step first, and it ends as "rolled back". What can be done then:

  failed, cancelled   resume does anew what did not complete, and goes on; roll-back undoes what a failed one did
  rollback failed     resume goes on with the rollback
  rolling back        resume keeps what is not undone yet, and goes on once the undo under way has ended
  rolled back         start it anew

To cancel, resume, roll back or signal, the workload must be known (--module): it says how steps are done and undone.

Examples:
  millrace workflows                                  the newest
  millrace workflows --status failed --name screenshot
  millrace workflows show 17                          its steps, their jobs, and how far each has come
  millrace workflows cancel 17 --reason "wrong folder" --module dist/workload.js
  millrace workflows resume 17 --module dist/workload.js
  millrace workflows resume 17 --payload 'upload={"folder":"b","files":[]}' --module dist/workload.js
  millrace workflows resume 17 --payload 'thumbnails={"3":{"file":"a","size":64}}'    the fourth job of a step with many
  millrace workflows roll-back 17 --module dist/workload.js
  millrace workflows signal 17 approved '{"by":"ann"}' --module dist/workload.js
`

const decided = `
Exit codes:
  0  done: what follows is up to the workers
  1  at least one of them cannot be changed like that, or does not exist
`

const STATUSES = [
  'running',
  'stopping',
  'rolling back',
  'completed',
  'failed',
  'cancelled',
  'rolled back',
  'rollback failed',
]

export function workflowsCommand(): Command {
  return new Command('workflows')
    .summary('look at workflows, cancel, resume and roll them back')
    .description('Look at workflows, cancel, resume and roll them back.')
    .addHelpText('after', help)
    .addCommand(listCommand(), { isDefault: true })
    .addCommand(showCommand())
    .addCommand(cancelCommand())
    .addCommand(resumeCommand())
    .addCommand(signalCommand())
    .addCommand(rollBackCommand())
}

function listCommand(): Command {
  const command = new Command('list')
    .description('List workflows, newest first.')
    .addOption(new Option('--status <status>', 'only these').choices(STATUSES))
    .option('--name <name>', 'only of this name')
    .option('--tenant <tenant>', 'only of this tenant')
    .option('--before <id>', 'only workflows older than this one')
    .addOption(new Option('--limit <count>', 'how many').argParser(parseLimit).default(50))
  return addWatchOptions(addClientOptions(command)).action(list)
}

function showCommand(): Command {
  const command = new Command('show')
    .description('Show one with its steps: how far each has come, by which jobs, and whether it was undone.')
    .argument('<id>', 'the id of the workflow')
  return addWatchOptions(addClientOptions(command)).action(show)
}

function cancelCommand(): Command {
  const command = new Command('cancel')
    .description('Start nothing more, cancel what waits, ask what runs to stop, and undo what can be undone.')
    .argument('<id...>', 'the ids of the workflows')
    .option('--reason <text>', 'stored with the workflow and its jobs')
  return addChangeOptions(command).action(
    change((workflows, id, { by, reason }) => workflows.cancel(id, reason === undefined ? { by } : { by, reason })),
  )
}

function resumeCommand(): Command {
  const command = new Command('resume')
    .description('Do anew what failed or was cancelled, with new jobs, and go on from there; or go on with a rollback.')
    .argument('<id>', 'the id of the workflow')
    .option('--payload <step=json>', 'instead of what the definition gives; for a step with many jobs, by index', edit)
  return addChangeOptions(command).action(resume)
}

function rollBackCommand(): Command {
  const command = new Command('roll-back')
    .description('Undo what workflows did that have failed and were left as they are.')
    .argument('<id...>', 'the ids of the workflows')
  return addChangeOptions(command).action(change((workflows, id, { by }) => workflows.rollBack(id, { by })))
}

function signalCommand(): Command {
  const command = new Command('signal')
    .description('Tell a workflow what one of its steps waits for.')
    .argument('<id>', 'the id of the workflow')
    .argument('<name>', 'the name of the signal, which is that of its step')
    .argument('[payload]', 'what comes with it, as JSON', parsePayload)
    .option('--key <text>', 'says that two signals are the same, sent twice')
  return addChangeOptions(command).action(signal)
}

const addChangeOptions = (command: Command): Command =>
  addModuleOption(addClientOptions(addAuthorOption(command))).addHelpText('after', decided)

/** One more `--payload`. */
function edit(text: string, before: Record<string, unknown> = {}): Record<string, unknown> {
  const [, step, json] = /^([^=]+)=(.*)$/s.exec(text) ?? []
  if (step === undefined || json === undefined)
    throw new InvalidArgumentError(`Expected the name of a step and its payload, such as 'upload={"folder":"b"}'.`)
  if (Object.hasOwn(before, step)) throw new InvalidArgumentError(`Step "${step}" has two payloads.`)
  return { ...before, [step]: parseJson(json, `What follows ${step}=`) }
}
