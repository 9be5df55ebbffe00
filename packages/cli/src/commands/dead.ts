import { Command, Option } from 'commander'
import { addModuleOption, addRemoteOptions } from '../client.ts'
import { addCsvOptions } from '../csv.ts'
import { parsePayload } from '../json-argument.ts'
import { addWatchOptions } from '../watch.ts'
import { addWhereOptions } from './bulk-run.ts'
import { counts, groups, list, prune, show } from './dead-letters.ts'
import { close, decide, redrive } from './dead-letters-decide.ts'
import { ageOption } from './prune.ts'
import { addAuthorOption, addDecisionOptions } from './retry.ts'
import { parseCount } from './worker-options.ts'

const help = `
A dead letter is what is left of a job that failed for good. It stays pending until somebody redrives, resolves or
ignores it; resolved and ignored ones are deleted after seven days, unless the program says otherwise.

Examples:
  millrace dead                              what waits for a decision, newest first
  millrace dead groups                       the same by kind of failure
  millrace dead show 17
  millrace dead redrive 17 18 --module dist/workload.js
  millrace dead redrive --fingerprint 3f9a12c4 --module dist/workload.js
  millrace dead redrive --where 'fp:3f9a queue:mail' --canary --rate 20/s
  millrace dead resolve 17 --note "refunded by hand"
  millrace dead ignore --where 'type:mail.send error:~bounced finished:<-7d' --yes
`

const whereHelp = `
With --where a query chooses the dead jobs whose letters are meant. What would happen is shown first, then asked about; workers
do it, and \`millrace bulk\` lists it.
`

const canaryHelp = `
With --canary, by query or by filter, a few letters of different tenants are redriven first, and the rest once they have completed.
`

const STATUSES = ['pending', 'retried', 'resolved', 'ignored', 'any']
const REASONS = ['exhausted', 'discarded', 'unrecoverable', 'gave_up', 'invalid_payload', 'stuck', 'crash_loop']

export function deadCommand(): Command {
  return new Command('dead')
    .summary('look at dead letters and decide about them')
    .description('Look at dead letters and decide about them.')
    .addHelpText('after', help)
    .addCommand(listCommand(), { isDefault: true })
    .addCommand(groupsCommand())
    .addCommand(showCommand())
    .addCommand(redriveCommand())
    .addCommand(acknowledgeCommand())
    .addCommand(closingCommand('resolve', 'The matter is settled in another way.'))
    .addCommand(closingCommand('ignore', "Not worth anybody's time."))
    .addCommand(noteCommand())
    .addCommand(countsCommand())
    .addCommand(pruneCommand())
}

function listCommand(): Command {
  const command = new Command('list')
    .description('List dead letters, newest first.')
    .addOption(new Option('--status <status>', 'only these').choices(STATUSES).default('pending'))
    .addOption(new Option('--reason <reason>', 'only these').choices(REASONS))
    .option('--before <id>', 'only letters older than this one')
  return addWatchOptions(addRemoteOptions(addCsvOptions(addFilterOptions(command)))).action(list)
}

function addFilterOptions(command: Command): Command {
  return command
    .option('--queue <queue>', 'only of this queue')
    .option('--type <type>', 'only of this job type')
    .option('--tenant <tenant>', 'only of this tenant')
    .option('--fingerprint <fingerprint>', 'only this kind of failure')
}

function groupsCommand(): Command {
  const command = new Command('groups')
    .description('Count the pending ones by kind of failure.')
    .option('--queue <queue>', 'only of this queue')
    .option('--type <type>', 'only of this job type')
    .option('--tenant <tenant>', 'only of this tenant')
  return addWatchOptions(addRemoteOptions(command)).action(groups)
}

function countsCommand(): Command {
  return addWatchOptions(addRemoteOptions(new Command('counts').description('Count them by queue and tenant.'))).action(
    counts,
  )
}

function pruneCommand(): Command {
  const command = new Command('prune')
    .addOption(ageOption().makeOptionMandatory())
    .description('Forget those that were resolved or ignored. Pending and retried ones stay.')
    .addOption(
      new Option('--since <what>', 'what the age counts from').choices(['decision', 'death']).default('decision'),
    )
  return addRemoteOptions(addAuthorOption(command)).action(prune)
}

function showCommand(): Command {
  const command = new Command('show')
    .description('Show one with its job, error, log lines and attempts.')
    .argument('<id>')
  return addRemoteOptions(command).action(show)
}

/** Also as `millrace redrive`: what one wants at night should be short. */
export function redriveCommand(): Command {
  const command = new Command('redrive')
    .description(
      'Give each a new job of the same work. Name them by id, or by a filter: then all pending ones that fit.',
    )
    .argument('[id...]', 'the ids of the letters')
    .option('--payload <json>', 'another payload, for a single letter', parsePayload)
    .addOption(
      new Option('--canary [jobs]', 'so many first, of different tenants (5); the first death stops the operation')
        .argParser(parseCount(1))
        .preset('5'),
    )
  return addModuleOption(addRemoteOptions(addWhereOptions(addDecisionOptions(addFilterOptions(command)), 'dead jobs')))
    .addHelpText('after', `${whereHelp}${canaryHelp}`)
    .action(redrive)
}

function acknowledgeCommand(): Command {
  const command = new Command('acknowledge')
    .description('Say that somebody has seen them; they stay pending.')
    .argument('<id...>', 'the ids of the letters')
  return addRemoteOptions(addAuthorOption(command)).action(decide('acknowledge'))
}

function closingCommand(verb: 'resolve' | 'ignore', description: string): Command {
  const command = new Command(verb)
    .description(description)
    .argument('[id...]', 'the ids of the letters')
    .option('--note <text>', 'written on the letters')
  return addRemoteOptions(addWhereOptions(addAuthorOption(command), 'dead jobs'))
    .addHelpText('after', whereHelp)
    .action(close(verb))
}

function noteCommand(): Command {
  const command = new Command('note')
    .description('Write a note on one.')
    .argument('<id>', 'the id of the letter')
    .argument('<text>', 'the note')
  return addRemoteOptions(addAuthorOption(command)).action((id, text, options, self) =>
    decide('note')([id], { ...options, note: text }, self),
  )
}
