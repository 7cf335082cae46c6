-- COLLATE "C": texts are ordered by their bytes, as in SQLite.
CREATE TABLE documents (
    collection TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    revision BIGINT NOT NULL,
    body TEXT NOT NULL,
    expires_ms BIGINT,
    updated_ms BIGINT NOT NULL,
    PRIMARY KEY (collection, id)
);
CREATE INDEX documents_expire ON documents (expires_ms) WHERE expires_ms IS NOT NULL;

CREATE TABLE audit (
    writer TEXT COLLATE "C" NOT NULL,
    sequence BIGINT NOT NULL,
    time_ms BIGINT NOT NULL,
    principal TEXT COLLATE "C" NOT NULL,
    target TEXT COLLATE "C" NOT NULL,
    outcome TEXT COLLATE "C" NOT NULL,
    line TEXT NOT NULL,
    PRIMARY KEY (writer, sequence)
);
CREATE INDEX audit_by_time ON audit (time_ms, writer, sequence);
CREATE INDEX audit_by_principal ON audit (principal, time_ms, writer, sequence);

-- Tells other replicas which collection changed, once for each transaction.
CREATE FUNCTION toolgate_tell() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('toolgate_changes', COALESCE(NEW.collection, OLD.collection));
    RETURN NULL;
END
$$;
CREATE TRIGGER documents_changed AFTER INSERT OR UPDATE OR DELETE ON documents
    FOR EACH ROW EXECUTE FUNCTION toolgate_tell();
