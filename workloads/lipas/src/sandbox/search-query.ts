// How the sandbox's search server ranks a document: match, match_bool_prefix, term, terms, bool and match_all.

/** As an index was created with. */
export interface Mappings {
  readonly properties?: Readonly<Record<string, { readonly type?: string }>>
}

export type SearchQuery = Readonly<Record<string, unknown>>
type Source = Readonly<Record<string, unknown>>

interface Options {
  readonly query: string
  readonly operator: string
  readonly boost: number
}

/** How well a document fits; undefined: it does not. Throws for a query that it does not know. */
export function rankOf(query: SearchQuery, source: Source, mappings: Mappings): number | undefined {
  const [kind, given] = Object.entries(query)[0] ?? []
  if (kind === 'match_all') return 1
  if (kind === 'bool') return rankOfBool(given as Bool, source, mappings)
  const [field, wanted] = Object.entries((given ?? {}) as Source)[0] ?? []
  if (kind === undefined || field === undefined) throw new Error('a query names its kind and a field')
  if (kind === 'match' || kind === 'match_bool_prefix') {
    if (mappings.properties?.[field]?.type !== 'text') return rankOfTerms([optionsOf(wanted).query], source[field], 1)
    return rankOfText(optionsOf(wanted), source[field], kind === 'match_bool_prefix')
  }
  if (kind === 'terms') return rankOfTerms(wanted as unknown[], source[field], 1)
  if (kind !== 'term') throw new Error(`unknown query [${kind}]`)
  const { value = wanted, boost = 1 } = (isObject(wanted) ? wanted : {}) as { value?: unknown; boost?: number }
  return rankOfTerms([value], source[field], boost)
}

interface Bool {
  readonly must?: SearchQuery | readonly SearchQuery[]
  readonly filter?: SearchQuery | readonly SearchQuery[]
  readonly should?: SearchQuery | readonly SearchQuery[]
  readonly must_not?: SearchQuery | readonly SearchQuery[]
  readonly minimum_should_match?: number
}

function rankOfBool(bool: Bool, source: Source, mappings: Mappings): number | undefined {
  const ranks = (queries: SearchQuery | readonly SearchQuery[] = []) =>
    [queries].flat().map((each) => rankOf(each as SearchQuery, source, mappings))
  const [must, filter, should] = [ranks(bool.must), ranks(bool.filter), ranks(bool.should)]
  if ([...must, ...filter].includes(undefined)) return undefined
  if (ranks(bool.must_not).some((rank) => rank !== undefined)) return undefined
  const hits = should.filter((rank) => rank !== undefined)
  const isOptional = bool.must !== undefined || bool.filter !== undefined || bool.should === undefined
  if (hits.length < (bool.minimum_should_match ?? (isOptional ? 0 : 1))) return undefined
  return [...must, ...hits].reduce<number>((sum, rank) => sum + (rank as number), 0)
}

/** Words of the text that are words of the query; rarer ones do not count more here. */
function rankOfText(options: Options, value: unknown, hasPrefix: boolean): number | undefined {
  const [wanted, words] = [wordsOf(options.query), wordsOf(String(value ?? ''))]
  if (wanted.length === 0 || words.length === 0) return undefined
  const fits = wanted.filter((each, at) =>
    words.some((word) => word === each || (hasPrefix && at === wanted.length - 1 && word.startsWith(each))),
  )
  const needed = options.operator === 'and' ? wanted.length : 1
  return fits.length < needed ? undefined : (options.boost * fits.length) / Math.sqrt(words.length)
}

function rankOfTerms(wanted: readonly unknown[], value: unknown, boost: number): number | undefined {
  const values = [value].flat().map(String)
  return wanted.some((each) => values.includes(String(each))) ? boost : undefined
}

function optionsOf(given: unknown): Options {
  const { query = given, operator = 'or', boost = 1 } = (isObject(given) ? given : {}) as Partial<Options>
  return { query: String(query), operator: operator.toLowerCase(), boost }
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)
const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
