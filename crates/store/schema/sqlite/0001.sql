CREATE TABLE documents (
    collection TEXT NOT NULL,
    id TEXT NOT NULL,
    revision BIGINT NOT NULL,
    body TEXT NOT NULL,
    expires_ms BIGINT,
    updated_ms BIGINT NOT NULL,
    PRIMARY KEY (collection, id)
);
CREATE INDEX documents_expire ON documents (expires_ms) WHERE expires_ms IS NOT NULL;

CREATE TABLE audit (
    writer TEXT NOT NULL,
    sequence BIGINT NOT NULL,
    time_ms BIGINT NOT NULL,
    principal TEXT NOT NULL,
    target TEXT NOT NULL,
    outcome TEXT NOT NULL,
    line TEXT NOT NULL,
    PRIMARY KEY (writer, sequence)
);
CREATE INDEX audit_by_time ON audit (time_ms, writer, sequence);
CREATE INDEX audit_by_principal ON audit (principal, time_ms, writer, sequence);

-- Counts the changes of each collection, for other processes to notice.
CREATE TABLE marks (collection TEXT NOT NULL PRIMARY KEY, counter BIGINT NOT NULL);
CREATE TRIGGER documents_inserted AFTER INSERT ON documents BEGIN
    INSERT INTO marks VALUES (NEW.collection, 1) ON CONFLICT (collection) DO UPDATE SET counter = counter + 1;
END;
CREATE TRIGGER documents_updated AFTER UPDATE ON documents BEGIN
    INSERT INTO marks VALUES (NEW.collection, 1) ON CONFLICT (collection) DO UPDATE SET counter = counter + 1;
END;
CREATE TRIGGER documents_deleted AFTER DELETE ON documents BEGIN
    INSERT INTO marks VALUES (OLD.collection, 1) ON CONFLICT (collection) DO UPDATE SET counter = counter + 1;
END;
