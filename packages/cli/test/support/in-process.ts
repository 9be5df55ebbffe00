import type { Command } from 'commander'
import { CommanderError } from 'commander'
import { vi } from 'vitest'
import { completeTree } from '#src/command-tree'
import { program } from '#src/main'

export interface Said {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** What a command would go by, if the person who runs the tests has it set. */
const UNSET = { DATABASE_URL: undefined, PORT: undefined, HOST: undefined, npm_lifecycle_event: undefined }

/** One command after the other: what is written to stdout says not which of them wrote it. */
let last: Promise<unknown> = Promise.resolve()

/** Runs a command in this process, which takes a tenth of the time of a process of its own. */
export function saidBy(args: readonly string[], env: Record<string, string | undefined> = {}): Promise<Said> {
  const said = last.then(() => saidNow(args, env))
  last = said.catch(() => {})
  return said
}

async function saidNow(args: readonly string[], env: Record<string, string | undefined>): Promise<Said> {
  const said = { out: '', err: '' }
  for (const [name, value] of Object.entries({ ...UNSET, ...env })) vi.stubEnv(name, value)
  const out = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    said.out += String(text)
    return true
  })
  const err = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    said.err += String(text)
    return true
  })
  try {
    await tree().parseAsync(['node', 'millrace', ...args])
    return { code: Number(process.exitCode ?? 0), ...said }
  } catch (error) {
    if (error instanceof CommanderError) return { code: error.exitCode, ...said }
    throw error
  } finally {
    process.exitCode = undefined
    out.mockRestore()
    err.mockRestore()
    vi.unstubAllEnvs()
  }
}

/** Its commands throw where they would end the process. */
function tree(): Command {
  const root = completeTree(program())
  const all = (command: Command): Command[] => [command, ...command.commands.flatMap(all)]
  for (const each of all(root)) each.exitOverride()
  return root
}
