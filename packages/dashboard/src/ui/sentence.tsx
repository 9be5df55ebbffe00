// A sentence of the server, in which commands stand between backticks.

/** "See `millrace dead groups`." with the command as code. */
export const Sentence = ({ text }: { text: string }) =>
  text.split('`').map((part, index) =>
    // Every second part stands between backticks.
    index % 2 === 1 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a sentence have a fixed order
      <code key={index}>{part}</code>
    ) : (
      part
    ),
  )
