// Guides whose examples are taken out of them, type-checked, and run.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const root = fileURLToPath(new URL('../../../../', import.meta.url))

/** The examples of a guide as files, below node_modules so that they find their libraries as an application would. */
export async function examplesOf(guide: string) {
  const page = readFileSync(join(root, 'docs/guides', guide), 'utf8')
  const files = [...page.matchAll(/^```ts\n\/\/ (\S+\.ts)\n(.*?)^```$/gms)].map(([, name = '', text = '']) => ({
    name,
    text,
  }))
  const cache = join(root, 'node_modules/.cache')
  await mkdir(cache, { recursive: true })
  const directory = await mkdtemp(join(cache, 'guide-'))
  for (const { name, text } of files) await writeFile(join(directory, name), text)
  return {
    sql: [...page.matchAll(/^```sql\n(.*?)^```$/gms)].map(([, text = '']) => text),
    load: <Module>(name: string): Promise<Module> => import(join(directory, name)),

    /** What the type checker says: nothing. */
    async complaints(): Promise<string> {
      const compilerOptions = {
        noEmit: true,
        composite: false,
        rewriteRelativeImportExtensions: false,
        allowImportingTsExtensions: true,
      }
      const config = {
        extends: join(root, 'tsconfig.base.json'),
        compilerOptions,
        files: files.map(({ name }) => name),
      }
      await writeFile(join(directory, 'tsconfig.json'), JSON.stringify(config))
      return promisify(execFile)(join(root, 'node_modules/.bin/tsc'), ['-p', directory]).then(
        () => '',
        (error: { stdout: string }) => error.stdout,
      )
    },
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true }),
  }
}
