// Pages by cursor: there is a next one or not, and nobody knows how many.
import type { ReactNode } from 'react'
import { Button } from './button.tsx'

export interface PaginationProps {
  /** What is shown: "100 letters, newest first". */
  children: ReactNode
  onFirst?: (() => unknown) | undefined
  onNext?: (() => unknown) | undefined
  isFirst: boolean
}

export const Pagination = ({ children, onFirst, onNext, isFirst }: PaginationProps) => (
  <nav className="pager" aria-label="Pages">
    <span>{children}</span>
    <span className="acts">
      <Button size="sm" onClick={onFirst} disabledBecause={isFirst ? 'This is the first page.' : null}>
        First page
      </Button>
      <Button size="sm" onClick={onNext} disabledBecause={onNext ? null : 'This is the last page.'}>
        Next page
      </Button>
    </span>
  </nav>
)
