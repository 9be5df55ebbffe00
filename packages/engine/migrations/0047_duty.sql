-- Work that one process of all does at a time, such as exporting what only the database knows. A small lease by name:
-- another process may take it when it has run out.
create table millrace.duty (
  name   text primary key,
  -- Host, process id and a random part.
  holder text not null,
  until  timestamptz not null
);
