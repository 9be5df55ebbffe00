// A labelled control with its hint and what is wrong with it.
import { cloneElement, type ReactElement, useId } from 'react'

export interface FieldProps {
  label: string
  hint?: string
  /** What is wrong with the value: a sentence. */
  wrong?: string | null
  children: ReactElement<{ id?: string; 'aria-describedby'?: string; 'aria-invalid'?: boolean }>
}

export function Field({ label, hint, wrong, children }: FieldProps) {
  const id = useId()
  const text = wrong ?? hint
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {cloneElement(children, {
        id,
        ...(text && { 'aria-describedby': `${id}-hint` }),
        ...(wrong && { 'aria-invalid': true }),
      })}
      {text && (
        <span id={`${id}-hint`} className={wrong ? 'wrong' : 'hint'}>
          {text}
        </span>
      )}
    </div>
  )
}
