// The filters that hold, each with a way to drop it.
import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { Icon } from './icon.tsx'

export interface Filter {
  readonly name: string
  readonly value: ReactNode
  readonly onRemove: () => void
}

export function FilterChips({ filters, onClear }: { filters: readonly Filter[]; onClear?: () => void }) {
  if (filters.length === 0) return null
  return (
    <ul className="chips" aria-label="Filters">
      {filters.map(({ name, value, onRemove }) => (
        <li key={name} className="chip filter">
          <span>
            <span className="faint">{name}</span> {value}
          </span>
          <button type="button" aria-label={`Remove the filter ${name}`} onClick={onRemove}>
            <Icon name="close" />
          </button>
        </li>
      ))}
      {onClear && filters.length > 1 && (
        <li>
          <Button variant="quiet" size="sm" onClick={onClear}>
            Clear all
          </Button>
        </li>
      )}
    </ul>
  )
}
