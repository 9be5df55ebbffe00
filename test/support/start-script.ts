// What a start script of package.json runs, on a database of the test. The build before it is `npm test`'s own.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './document.ts'

export interface StartedScript extends AsyncDisposable {
  readonly banner: string
  /** The value of a line of the banner, such as 'Village'. */
  line(label: string): string
  /** As Ctrl-C does. Answers with all that it said, and its exit code. */
  stop(): Promise<{ readonly output: string; readonly code: number | null }>
}

/** Keys of real services that this machine may have: a newcomer's has none. */
const KEYS =
  /^(DATABASE_URL|NODE_OPTIONS|ADMIN_TOKEN|ANTHROPIC_|ALPHAVANTAGE_|NWS_|PAGERDUTY_|SLACK_|SMTP_|VILLAGE|MILLRACE_ENC)/

interface StartOptions {
  readonly databaseUrl: string
  /** On top of this machine's environment. */
  readonly env?: Readonly<Record<string, string>>
}

export async function startScript(name: string, { databaseUrl, env: more }: StartOptions): Promise<StartedScript> {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>
  }
  const [, command] = /&& exec node (.+)$/.exec(scripts[name] ?? '') ?? []
  if (command === undefined) throw new Error(`The script "${name}" does not end with "&& exec node …".`)
  const env = Object.fromEntries(Object.entries(process.env).filter(([key]) => !KEYS.test(key)))
  const program = spawn(process.execPath, command.split(' '), {
    cwd: root,
    env: { ...env, DATABASE_URL: databaseUrl, PORT: '0', ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const banner = await said(program, (text) => {
    output = text
    return output.includes('Ctrl-C to stop')
  })
  const stop = async () => {
    if (program.exitCode === null && program.signalCode === null) {
      const end = once(program, 'close')
      program.kill('SIGINT')
      await end
    }
    return { output, code: program.exitCode }
  }
  return {
    banner,
    stop,
    line: (label) => new RegExp(`^ {2}${label} +(.+)$`, 'm').exec(banner)?.[1] ?? '',
    async [Symbol.asyncDispose]() {
      await stop()
    },
  }
}

/** `hear` is told all that was said so far, also after the promise has resolved. */
function said(program: ChildProcess, hear: (text: string) => boolean): Promise<string> {
  let text = ''
  return new Promise((resolve, reject) => {
    const onData = (chunk: Buffer) => {
      text += chunk
      if (hear(text)) resolve(text)
    }
    program.stdout?.on('data', onData)
    program.stderr?.on('data', onData)
    program.once('close', () => reject(new Error(`It ended before it was ready:\n${text}`)))
  })
}
