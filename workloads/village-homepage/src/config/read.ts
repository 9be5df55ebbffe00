// Reads application.yaml: variables of the environment win over it, and every mistake is told at once.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Document, LineCounter, parseDocument } from 'yaml'
import type { z } from 'zod'
import { configurationFile } from './keys.ts'
import { filledDeep, variableOf } from './placeholders.ts'
import { ConfigurationUnusable, type Problem, problemsOf } from './problems.ts'
import { keysOf, valuePaths } from './schema-paths.ts'

type CamelKey<Key> = Key extends `${infer Head}-${infer Tail}` ? `${Head}${Capitalize<CamelKey<Tail>>}` : Key
/** Tables of the user's own keys, such as prices by model, have an index signature and stay as they are. */
type Camel<T> = T extends readonly (infer Item)[]
  ? readonly Camel<Item>[]
  : T extends object
    ? string extends keyof T
      ? Readonly<T>
      : { readonly [Key in keyof T as CamelKey<Key>]: Camel<T[Key]> }
    : T

export type VillageConfig = Camel<z.output<typeof configurationFile>['villagecompute']>

export interface ConfigSource {
  /** Default: VILLAGE_CONFIG, else the application.yaml of this package. */
  readonly file?: string
  /** Instead of the file's text: for tests. */
  readonly text?: string
  /** Default: that of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>
}

const OWN_FILE = new URL('../../../application.yaml', import.meta.url)

export function readConfig({ env = process.env, ...source }: ConfigSource = {}): VillageConfig {
  const file = source.file ?? (env.VILLAGE_CONFIG || fileURLToPath(OWN_FILE))
  const lines = new LineCounter()
  const document = parseDocument(source.text ?? textOf(file), { lineCounter: lines })
  if (document.errors.length > 0)
    throw new ConfigurationUnusable(
      file,
      document.errors.map(({ linePos, message }) => `${file}:${linePos?.[0].line ?? 1}: ${message.split('\n')[0]}`),
    )
  const given = filledDeep(document.toJS() ?? {}, env)
  const fromVariables = setByVariables(given, env)
  const parsed = configurationFile.safeParse(given)
  if (parsed.success) return camel(parsed.data.villagecompute, configurationFile.shape.villagecompute) as VillageConfig
  const problems = parsed.error.issues.flatMap((issue) => problemsOf(configurationFile, issue))
  throw new ConfigurationUnusable(
    file,
    problems.map((problem) => told(problem, { file, document, lines, fromVariables })),
  )
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`The configuration cannot be read: ${why}. Set VILLAGE_CONFIG to a readable file.`, { cause })
  }
}

/** Writes what variables say into the configuration, and answers with the variables by path. */
function setByVariables(given: unknown, env: NonNullable<ConfigSource['env']>): Map<string, string> {
  const names = new Map<string, string>()
  for (const path of valuePaths(configurationFile)) {
    const name = variableOf(path)
    const value = env[name]
    if (!value) continue
    names.set(path.join('.'), name)
    let table = given as Record<string, unknown>
    for (const key of path.slice(0, -1)) {
      if (typeof table[key] !== 'object' || table[key] === null) table[key] = {}
      table = table[key] as Record<string, unknown>
    }
    table[path.at(-1) ?? ''] = value
  }
  return names
}

interface Place {
  readonly file: string
  readonly document: Document
  readonly lines: LineCounter
  readonly fromVariables: ReadonlyMap<string, string>
}

function told({ path, text }: Problem, { file, document, lines, fromVariables }: Place): string {
  const shown = path.map(String).join('.')
  const variable = fromVariables.get(shown)
  if (variable !== undefined) return `${variable}: ${shown}: ${text}`
  return `${file}:${lineOf(path, document, lines)}: ${shown}: ${text}`
}

/** The line of the key, or of the nearest table around it. */
function lineOf(path: readonly PropertyKey[], document: Document, lines: LineCounter): number {
  for (let length = path.length; length > 0; length--) {
    const around = document.getIn(path.slice(0, length - 1), true) as
      | { items?: { key?: { value?: unknown; range?: [number, number, number] } }[] }
      | undefined
    const pair = around?.items?.find((item) => item.key?.value === path[length - 1])
    if (pair?.key?.range !== undefined) return lines.linePos(pair.key.range[0]).line
    const node = document.getIn(path.slice(0, length), true) as { range?: [number, number, number] } | undefined
    if (node?.range !== undefined) return lines.linePos(node.range[0]).line
  }
  return 1
}

function camel(value: unknown, schema: z.ZodType): unknown {
  if (Array.isArray(value)) return value.map((item) => camelObject(item))
  const keys = keysOf(schema)
  if (keys === undefined || typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [camelKey(key), camel(item, keys[key] as z.ZodType)]),
  )
}

const camelObject = (item: unknown): unknown =>
  typeof item === 'object' && item !== null
    ? Object.fromEntries(Object.entries(item).map(([key, value]) => [camelKey(key), value]))
    : item

const camelKey = (key: string): string => key.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
