// `lipas sandbox`: what stands in for the outside services, alone, for processes that are started by hand.
import { once } from 'node:events'
import { Command, InvalidArgumentError } from 'commander'
import { type Sandbox, startSandbox } from '../sandbox/server.ts'
import { fail } from './register.ts'

const help = `
It prints the variables that point to it, and serves until Ctrl-C. \`millrace dev\` starts one by itself.

Examples:
  lipas sandbox                     in one terminal; put what it prints into .env or the shell of the others
  lipas sandbox --json --well       never fails by itself
`

export function sandboxCommand(): Command {
  return new Command('sandbox')
    .summary('stand in for the outside services, on this machine')
    .description('Stand in for the outside services: mail server, partner, elevation, search, routing.')
    .option('--port <port>', 'of its page and its HTTP services; default: any free one', parsePort, 0)
    .option('--well', 'it fails on demand only, never by itself')
    .option('--json', 'the addresses as one line of JSON')
    .addHelpText('after', help)
    .action(act)
}

async function act(
  { port, well = false, json = false }: { port: number; well?: boolean; json?: boolean },
  command: Command,
) {
  try {
    const sandbox = await startSandbox({ port, misbehaves: !well })
    process.stdout.write(json ? `${JSON.stringify(addressesOf(sandbox))}\n` : asText(sandbox))
    await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
    await sandbox.stop()
  } catch (error) {
    fail(command, error)
  }
}

const addressesOf = ({ url, variables }: Sandbox) => ({ url, variables })

function asText({ url, variables }: Sandbox): string {
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}`)
  return `# The page of the sandbox: ${url}\n${lines.join('\n')}\n`
}

function parsePort(text: string): number {
  const port = Number(text)
  if (/^\d+$/.test(text) && port <= 65_535) return port
  throw new InvalidArgumentError('expected a number from 0 to 65535.')
}
