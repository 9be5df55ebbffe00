import { Command } from 'commander'
import type { KeysProgress, KeyUse } from 'millrace'
import { addClientOptions, type ClientOptions, withClient } from '../client.ts'
import { oneLine, print, printJson } from '../print.ts'
import { table } from '../table.ts'
import { addAuthorOption } from './retry.ts'

const help = `
The keys come from the environment, and only their ids are ever printed:
  MILLRACE_ENCRYPTION_KEYS=2026b:<base64>,2026a:<base64>   the first encrypts, all decrypt
  MILLRACE_LOOKUP_KEY=<base64>                             of dedup, order and limit keys; it is not rotated
Make one with \`openssl rand -base64 32\`.

To replace a key: add the new one behind the others and deploy, so that everybody can decrypt it; move it to the front and
deploy; run \`millrace encryption-keys rotate\`; when \`millrace encryption-keys status\` says that the old one is not needed, remove it.

Exit codes:
  0  done
  1  there are no keys, or the database cannot be reached
  2  rotate: some values could not be decrypted, because their key is missing

Examples:
  millrace encryption-keys status
  millrace encryption-keys rotate --json
`

interface RotateOptions extends ClientOptions {
  readonly by: string
}

export function encryptionKeysCommand(): Command {
  const status = new Command('status')
    .description('Say which encryption keys stored jobs still need, the archive included. Reads all of them.')
    .action(showStatus)
  const rotate = new Command('rotate')
    .description('Encrypt what live jobs, dead letters and workflows hold under the first key.')
    .action(rotateAll)
  return new Command('encryption-keys')
    .summary('see and rotate encryption keys')
    .description('See which encryption keys are needed, and rotate to the first one.')
    .addCommand(addClientOptions(status).addHelpText('after', help))
    .addCommand(addClientOptions(addAuthorOption(rotate)).addHelpText('after', help))
    .addHelpText('after', help)
}

async function showStatus(options: ClientOptions, command: Command): Promise<void> {
  await withClient(command, options, async ({ millrace }) => {
    const keys = await millrace.encryptionKeys.status({ onProgress: tell })
    if (options.json) printJson(keys)
    else print(keys.length === 0 ? 'There are no keys, and nothing is encrypted.\n' : statusTable(keys))
  })
}

async function rotateAll(options: RotateOptions, command: Command): Promise<void> {
  await withClient(command, options, async ({ millrace }) => {
    const result = await millrace.encryptionKeys.rotate({ by: options.by, onProgress: tell })
    const keys = await millrace.encryptionKeys.status({ onProgress: tell })
    if (result.unreadable.length > 0) process.exitCode = 2
    if (options.json) return printJson({ ...result, keys })
    const { live, deadLetters, workflows } = result.rotated
    print(
      `Encrypted ${live} live jobs, ${deadLetters} dead letters and ${workflows} jobs of workflows under key "${result.first}".\n\n`,
    )
    print(statusTable(keys))
    const missing = [...new Set(result.unreadable.map(({ keyId }) => keyId))]
    if (missing.length > 0)
      print(
        `\nSome values cannot be decrypted without ${oneLine(missing.join(', '), 500)}: add the key, and rotate again.\n`,
      )
  })
}

function statusTable(keys: readonly KeyUse[]): string {
  const rows = keys.map((key) => [
    key.id,
    key.isFirst ? 'encrypts' : key.isKnown ? 'decrypts' : 'missing here',
    String(key.live),
    String(key.deadLetters),
    String(key.workflows),
    String(key.archive),
    String(key.records),
    verdict(key),
  ])
  return table(['KEY', 'USE', 'LIVE', 'DEAD LETTERS', 'WORKFLOWS', 'ARCHIVE', 'RECORDS', 'NEEDED'], rows)
}

function verdict({ isFirst, isNeeded, live, deadLetters, workflows, archive, records }: KeyUse): string {
  if (isFirst) return 'yes'
  if (!isNeeded) return 'no: it can be removed'
  if (live + deadLetters + workflows > 0) return 'yes: rotate first'
  return records > 0
    ? `until what ${records} ${records === 1 ? 'job has' : 'jobs have'} recorded is forgotten`
    : `only to read ${archive} archived ${archive === 1 ? 'job' : 'jobs'}`
}

/** Only for somebody who waits. */
function tell({ place, scanned }: KeysProgress): void {
  if (process.stderr.isTTY) process.stderr.write(`\r${place}: ${scanned} rows\u001b[K`)
}
