// Tags from the words of a text: what the sandbox answers in place of a language model.

export interface WordTags {
  readonly topics: readonly string[]
  readonly sentiment: 'positive' | 'negative' | 'neutral' | 'mixed'
  readonly categories: readonly string[]
  readonly confidence: number
}

const CATEGORIES: Readonly<Record<string, readonly string[]>> = {
  Technology: ['software', 'network', 'computer', 'code', 'battery', 'robot', 'chip', 'app', 'compiler', 'fibre'],
  Business: ['market', 'shop', 'price', 'profit', 'company', 'trade', 'budget', 'rent', 'jobs', 'wages'],
  Science: ['study', 'researchers', 'telescope', 'fossil', 'laboratory', 'species', 'experiment', 'survey'],
  Health: ['clinic', 'doctor', 'hospital', 'vaccine', 'nurse', 'sleep', 'health'],
  Politics: ['council', 'mayor', 'vote', 'election', 'minister', 'bylaw', 'petition'],
  Entertainment: ['theatre', 'concert', 'film', 'festival', 'choir', 'play', 'band', 'stage'],
  Sports: ['match', 'team', 'league', 'cricket', 'race', 'goal', 'rowing', 'season'],
  World: ['abroad', 'treaty', 'embassy', 'ferry', 'international', 'sister'],
  Environment: ['river', 'flood', 'forest', 'climate', 'birds', 'storm', 'bees', 'meadow'],
  Education: ['school', 'pupils', 'library', 'university', 'lesson', 'teacher'],
  Lifestyle: ['recipe', 'garden', 'bakery', 'kitchen', 'walk', 'weekend'],
  Local: ['village', 'bridge', 'harbour', 'square', 'mill', 'street', 'neighbours'],
}
const GOOD = [
  'opens',
  'wins',
  'saved',
  'record',
  'celebrates',
  'better',
  'new',
  'success',
  'welcome',
  'returns',
  'grows',
]
const BAD = ['closes', 'delayed', 'loses', 'flood', 'damage', 'shortage', 'worse', 'fails', 'warning', 'cut', 'storm']
const DULL = new Set([
  'already',
  'because',
  'before',
  'between',
  'kilobytes',
  'another',
  'deleted',
  'against',
  'measured',
  'mistakes',
  'speakers',
  'learns',
  'hundred',
  'thought',
  'through',
])

export function wordTags(text: string): WordTags {
  const words = text.toLowerCase().match(/\p{L}{3,}/gu) ?? []
  const known = new Set(words)
  const found = Object.entries(CATEGORIES)
    .map(([name, marks]) => ({ name, hits: marks.filter((mark) => known.has(mark)).length }))
    .filter(({ hits }) => hits > 0)
    .sort((a, b) => b.hits - a.hits)
  const hits = found.reduce((sum, each) => sum + each.hits, 0)
  return {
    topics: topicsOf(words),
    sentiment: sentimentOf(known),
    categories: found.length === 0 ? ['Local'] : found.slice(0, 3).map(({ name }) => name),
    confidence: Math.min(0.97, Math.round((0.4 + 0.11 * hits) * 100) / 100),
  }
}

/** What the text is about: the marks of categories that it has, then long words, in the order in which they stand. */
function topicsOf(words: readonly string[]): string[] {
  const marks = new Set(Object.values(CATEGORIES).flat())
  const isLong = (word: string): boolean => word.length >= 7 && word.length <= 30 && !DULL.has(word)
  const found = [...words.filter((word) => marks.has(word)), ...words.filter(isLong)]
  const topics = [...new Set(found)].slice(0, 4).map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
  return [...new Set([...topics, 'News', 'Village', 'Today'])].slice(0, Math.max(3, topics.length))
}

function sentimentOf(words: ReadonlySet<string>): WordTags['sentiment'] {
  const isGood = GOOD.some((word) => words.has(word))
  const isBad = BAD.some((word) => words.has(word))
  if (isGood && isBad) return 'mixed'
  if (isGood) return 'positive'
  return isBad ? 'negative' : 'neutral'
}
