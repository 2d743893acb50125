"""Certificates for TLS between two ends on 127.0.0.1, created when they are needed and valid for a day.

They pass `ssl.VERIFY_X509_STRICT`, the default of Python 3.13: a key usage in each, critical basic constraints, key
identifiers that name the issuer's key (RFC 5280 section 4.2.1).
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
)
from cryptography.x509.oid import NameOID


@dataclass(frozen=True)
class Identity:
    """A certificate and its private key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    def write(self, folder: Path, name: str, *, password: bytes = b"") -> tuple[Path, Path]:
        """Write PEM files; return the paths of the certificate and of the key, which `password` encrypts."""
        cert, key = folder / f"{name}.pem", folder / f"{name}.key"
        cert.write_bytes(self.certificate.public_bytes(Encoding.PEM))
        encryption: KeySerializationEncryption = BestAvailableEncryption(password) if password else NoEncryption()
        key.write_bytes(self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption))
        return cert, key


def identity(name: str, issuer: Identity | None = None) -> Identity:
    """Create a certificate for 127.0.0.1 signed by `issuer`, or a self-signed certificate authority without one."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    signer = issuer.key if issuer else key
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.certificate.subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
        .add_extension(_key_usage(authority=issuer is None), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))]), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False)
    )
    return Identity(builder.sign(signer, hashes.SHA256()), key)


def _key_usage(*, authority: bool) -> x509.KeyUsage:
    """Return the usage of a key that signs: certificates for an authority, the TLS handshake for others."""
    return x509.KeyUsage(
        digital_signature=not authority,
        key_cert_sign=authority,
        crl_sign=authority,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
