// Events on the span of the run that is under way. Without a tracer they cost nothing.
import { type Attributes, trace } from '@opentelemetry/api'

/** Every event of the village, with its attributes. */
export interface VillageEvents {
  'fetch.started': { source_id: string; source_url: string }
  'parse.completed': { items_fetched: number }
  'dedupe.completed': { new: number; duplicate: number }
  'entry.missing_fields': { guid: string }
  'source.not_found': { source_id: string }
  'source.inactive': { source_id: string }
  'refresh.no_sources': Record<string, never>
  'refresh.completed': { 'sources.success': number; 'sources.failure': number }
  budget_check: { budget_action: string; percent_used: number }
  budget_throttle: { budget_action: string }
  budget_exhausted_mid_batch: { tagged_count: number; total_count: number }
  'item.tagged': { item_id: string; topics: string[]; sentiment: string; categories: string[] }
  'item.failed': { item_id: string; error: string }
}

const LONGEST = 200

export function spanEvent<Name extends keyof VillageEvents>(name: Name, attributes: VillageEvents[Name]): void {
  trace.getActiveSpan()?.addEvent(name, shortened(attributes))
}

/** Strangers' texts are cut: a span is no place to store an article. */
export const shortened = (attributes: object): Attributes =>
  Object.fromEntries(
    Object.entries(attributes).map(([key, value]) => [
      key,
      typeof value === 'string' ? value.slice(0, LONGEST) : value,
    ]),
  )
