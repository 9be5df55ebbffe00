// A new project: the files of `template/`, and a package.json that finds the packages.
import { cp, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Refused } from './failure.ts'

const template = fileURLToPath(new URL('../template', import.meta.url))
/** Beside these a folder counts as empty. */
const HARMLESS = new Set(['.git', '.DS_Store', '.idea', '.vscode'])
const NAMED = ['README.md', 'src/workload.ts']
/** Only development needs the PostgreSQL that comes with it. */
const DEVELOPMENT = '@millrace/embedded'

export interface Project {
  readonly folder: string
  readonly name: string
  readonly files: readonly string[]
}

/** Writes the project into `target`, which must be empty or new. `packages`: a folder of packed tarballs. */
export async function scaffold(target: string, packages: string): Promise<Project> {
  const folder = resolve(target)
  await demandEmpty(folder, target)
  const tarballs = await tarballsIn(packages)
  const name = nameOf(folder)
  await mkdir(folder, { recursive: true })
  await cp(template, folder, { recursive: true })
  await rename(join(folder, 'gitignore'), join(folder, '.gitignore'))
  for (const file of NAMED) {
    const path = join(folder, file)
    await writeFile(path, (await readFile(path, 'utf8')).replaceAll('__NAME__', name))
  }
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest(name, tarballs), null, 2)}\n`)
  const src = (await readdir(join(folder, 'src'))).sort().map((file) => `src/${file}`)
  return { folder, name, files: ['package.json', 'tsconfig.json', 'README.md', '.gitignore', ...src] }
}

async function demandEmpty(folder: string, target: string): Promise<void> {
  const found = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    if (error.code === 'ENOTDIR') throw new Refused(`${target} is a file. Name an empty or new folder.`)
    throw new Refused(`${target} cannot be read: ${error.message}. Name an empty or new folder.`)
  })
  const inTheWay = found.filter((name) => !HARMLESS.has(name))
  if (inTheWay.length === 0) return
  const some = inTheWay.slice(0, 3).join(', ')
  throw new Refused(
    `${target} is not empty: it holds ${some}${inTheWay.length > 3 ? ` and ${inTheWay.length - 3} more` : ''}. Nothing was written. Name an empty or new folder, such as \`millrace init my-jobs\`.`,
  )
}

/** The tarballs of Millrace's packages, by the package's name. */
async function tarballsIn(packages: string): Promise<Map<string, string>> {
  const folder = resolve(packages)
  const found = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    throw new Refused(`--packages ${packages} cannot be read: ${error.message}. ${HOW_TO_PACK}`)
  })
  const tarballs = new Map<string, string>()
  for (const file of found.sort()) {
    const part = /^millrace(?:-([a-z]+))?-\d+\.\d+\.\d+.*\.tgz$/.exec(file)
    if (part !== null) tarballs.set(part[1] === undefined ? 'millrace' : `@millrace/${part[1]}`, join(folder, file))
  }
  const missing = ['millrace', '@millrace/cli', DEVELOPMENT].find((name) => !tarballs.has(name))
  if (missing !== undefined) throw new Refused(`--packages ${packages} holds no tarball of ${missing}. ${HOW_TO_PACK}`)
  return tarballs
}

const HOW_TO_PACK =
  'Pack them in a clone of Millrace: npm ci && npm run build && npm pack --workspace=packages --pack-destination DIR.'

function manifest(name: string, tarballs: ReadonlyMap<string, string>) {
  const files = [...tarballs].map(([each, file]) => [each, `file:${file}`])
  const pick = (isDevelopment: boolean) =>
    Object.fromEntries(files.filter(([each]) => (each === DEVELOPMENT) === isDevelopment))
  return {
    name,
    private: true,
    type: 'module',
    engines: { node: '>=20.19' },
    scripts: {
      build: 'tsc',
      dev: 'tsc && millrace dev dist/workload.js',
      migrate: 'tsc && millrace migrate dist/workload.js',
      work: 'millrace work dist/workload.js',
      test: 'tsc && node --test dist/*.test.js',
    },
    millrace: { module: 'dist/workload.js' },
    dependencies: { ...pick(false), zod: '^4.6.7' },
    devDependencies: { ...pick(true), '@types/node': '^20.19.0', typescript: '^7.0.2' },
  }
}

/** A package name made of the folder's. */
function nameOf(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^-+|-+$/g, '')
  return name === '' || name === 'millrace' || name === 'node-modules' ? 'my-jobs' : name.slice(0, 100)
}
