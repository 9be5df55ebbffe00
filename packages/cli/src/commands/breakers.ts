import { Command } from 'commander'
import type { Breaker } from 'millrace'
import { addClientOptions, addModuleOption, type ClientOptions, withClient } from '../client.ts'
import { fromNow, print, printJson } from '../print.ts'
import { table } from '../table.ts'
import { addWatchOptions } from '../watch.ts'
import { addAuthorOption } from './retry.ts'

const help = `
A breaker opens when a service fails several times in a row. While it is open, workers do not call the service and do not
take jobs that depend on it; then one job tries the service, and its success closes the breaker.

Examples:
  millrace breakers                          every service, and how it stands
  millrace breakers reset email-service      close it and forget its failures
  millrace breakers open email-service --for 10m
`

interface Decision extends ClientOptions {
  readonly by: string
}

export function breakersCommand(): Command {
  return new Command('breakers')
    .summary('look at circuit breakers, reset them, open them by hand')
    .description('Look at circuit breakers, reset them, or open them by hand.')
    .addHelpText('after', help)
    .addCommand(listCommand(), { isDefault: true })
    .addCommand(resetCommand())
    .addCommand(openCommand())
}

function listCommand(): Command {
  const command = new Command('list').description('List the services that are known, and how their breakers stand.')
  return addWatchOptions(addModuleOption(addClientOptions(command))).action(list)
}

function resetCommand(): Command {
  const command = new Command('reset')
    .description('Close a breaker and forget the failures.')
    .argument('<service>', 'the name of the service')
  return addModuleOption(addClientOptions(addAuthorOption(command))).action(reset)
}

function openCommand(): Command {
  const command = new Command('open')
    .description('Open a breaker by hand, until it is reset.')
    .argument('<service>', 'the name of the service')
    .option('--for <duration>', 'let one job try the service after so long, like 10m')
  return addModuleOption(addClientOptions(addAuthorOption(command))).action(open)
}

async function list(options: ClientOptions, command: Command): Promise<void> {
  await withClient(command, options, async ({ millrace }) => {
    const breakers = await millrace.breakers.list()
    if (options.json) return printJson(breakers)
    if (breakers.length === 0) return print('No service has failed yet, and no job type names one.\n')
    print(table(['SERVICE', 'STATE', 'FAILURES', 'LAST FAILURE', 'OPENED', 'NEXT PROBE'], breakers.map(cells)))
  })
}

async function reset(service: string, options: Decision, command: Command): Promise<void> {
  await withClient(command, options, async ({ millrace }) => {
    const breaker = await millrace.breakers.reset(service, { by: options.by })
    if (options.json) printJson(breaker)
    else print(`The breaker of service "${service}" is closed.\n`)
  })
}

async function open(service: string, options: Decision & { for?: string }, command: Command): Promise<void> {
  await withClient(command, options, async ({ millrace }) => {
    const breaker = await millrace.breakers.trip(service, {
      by: options.by,
      ...(options.for !== undefined && { for: options.for as `${number}m` }),
    })
    if (options.json) return printJson(breaker)
    const { nextProbeAt } = breaker
    const end = nextProbeAt === null ? 'until it is reset' : `the next probe is ${fromNow(nextProbeAt)}`
    print(`The breaker of service "${service}" is open; ${end}.\n`)
  })
}

function cells(breaker: Breaker): string[] {
  const { service, state, failureCount, settings, lastFailureAt, openedAt, nextProbeAt, probe } = breaker
  const next = probe === null ? fromNow(nextProbeAt) : probe.jobId === null ? 'a call tries' : `job ${probe.jobId} runs`
  const hand = state === 'open' && nextProbeAt === null ? 'never, reset it' : next
  const opened = state === 'closed' ? '' : fromNow(openedAt)
  return [
    service,
    state.replace('_', '-'),
    `${failureCount} of ${settings.failures}`,
    fromNow(lastFailureAt),
    opened,
    hand,
  ]
}
