// Documents whose code is run. A ```ts block whose first line is `// name.ts` is a file; together they are a program.
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { vi } from 'vitest'

export const root = fileURLToPath(new URL('../../', import.meta.url))
const textOf = (path: string): string => readFileSync(join(root, path), 'utf8')

/** The text of each code block of that language. */
export function blocks(path: string, language: string): string[] {
  const fence = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms')
  return [...textOf(path).matchAll(fence)].map((match) => match[1] as string)
}

export interface DocumentFile {
  readonly name: string
  readonly text: string
}

export function filesOf(path: string): DocumentFile[] {
  return blocks(path, 'ts').flatMap((text) => {
    const name = /^\/\/ (\S+\.ts)\n/.exec(text)?.[1]
    return name === undefined ? [] : [{ name, text }]
  })
}

/** The document's files, written where they find `millrace`, `pg` and `zod` as an application would. */
export async function openDocument(path: string) {
  const cache = join(root, 'node_modules/.cache')
  await mkdir(cache, { recursive: true })
  const directory = await mkdtemp(join(cache, 'document-'))
  for (const { name, text } of filesOf(path)) {
    await mkdir(dirname(join(directory, name)), { recursive: true })
    await writeFile(join(directory, name), text)
  }
  return {
    directory,
    /** Imports one of its files, with these environment variables set meanwhile. */
    async load<Module>(name: string, env: Record<string, string> = {}): Promise<Module> {
      for (const [variable, value] of Object.entries(env)) vi.stubEnv(variable, value)
      try {
        return await import(join(directory, name))
      } finally {
        vi.unstubAllEnvs()
      }
    },
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true }),
  }
}
