// Reads a query. Total: any text is either a query or a problem with its place.
import { didYouMean } from '../did-you-mean.ts'
import { FIELDS, type Field, fieldOf } from './fields.ts'
import type { Condition, ReadQuery } from './query.ts'
import { quoted, type Term, termsOf, Unreadable } from './terms.ts'
import { matchOf } from './values.ts'

export function readQuery(text: string): ReadQuery {
  try {
    return { query: { conditions: termsOf(text).map(conditionOf) }, problem: null }
  } catch (error) {
    if (error instanceof Unreadable) return { query: null, problem: error.problem }
    throw error
  }
}

function conditionOf(term: Term): Condition {
  if (term.name === null) return standingAlone(term)
  const { field, path } = named(term.name)
  const matches = term.values.map((value) => matchOf(field, (term.name as { text: string }).text, value))
  return { field: field.name, path, isNegated: term.isNegated, matches }
}

/** A number is the id of a job. Any other word belongs to a field. */
function standingAlone(term: Term): Condition {
  const [value] = term.values
  const text = value?.text ?? ''
  if (/^\d{1,18}$/.test(text) && value?.operator === null)
    return { field: 'id', path: [], isNegated: term.isNegated, matches: [{ kind: 'is', value: text }] }
  if (text === '') throw new Unreadable('Expected field:value, like status:dead.', term)
  const meant = `error:~${quoted(text)}`
  throw new Unreadable(`"${text}" stands alone: write field:value, like ${meant}.`, term, meant)
}

const MAX_DEPTH = 20

function named({ text, start, end }: NonNullable<Term['name']>): { field: Field; path: readonly string[] } {
  const [first = '', ...path] = text.split('.')
  const field = fieldOf(first)
  if (field?.kind === 'payload') {
    if (path.includes('') || path.length > MAX_DEPTH)
      throw new Unreadable(`"${text}" is no place in a payload: expected keys joined by dots, like payload.user.id.`, {
        start,
        end,
      })
    return { field, path }
  }
  if (field !== undefined && path.length === 0) return { field, path }
  const names = FIELDS.map(({ name }) => name)
  const near = didYouMean(text, names)
  const hint = near === undefined ? `There are: ${names.join(', ')}.` : `Did you mean "${near}"?`
  throw new Unreadable(
    text === '' ? 'Expected a field before the colon.' : `There is no field "${text}". ${hint}`,
    { start, end },
    near ?? null,
  )
}
